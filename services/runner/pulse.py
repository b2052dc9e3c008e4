"""The signs of life of an attempt, and what it learns from the answers."""

from datetime import timedelta

from services.kernel.errors import AnvilError, OwnershipLost
from services.kernel.log import get_logger
from services.kernel.ports import Clock
from services.kernel.runs import Directive
from services.kernel.wire.runs import Orders
from services.runner.attempt import Attempt
from services.runner.ending import Cause, Ending
from services.runner.progress import Progress

log = get_logger(__name__)


async def beat(attempt: Attempt, ending: Ending, progress: Progress, *, clock: Clock, every: timedelta) -> None:
    """Send heartbeats until the run is another's, the sooner the less of the lease is left."""
    while True:
        left = attempt.lease.left(clock.elapsed())
        await clock.sleep(min(every, max(left / 3, every / 10)))
        try:
            obey(await attempt.heartbeat(progress.steps), ending)
        except OwnershipLost:
            ending.require(Cause.LOST, "another attempt or nobody owns the run")
            return
        except AnvilError as error:
            log.warning("a heartbeat was not answered", code=error.code)


async def expire(attempt: Attempt, ending: Ending, *, clock: Clock) -> None:
    """Demand the end of the commands once nothing was heard for a whole lease."""
    while left := attempt.lease.left(clock.elapsed()):
        await clock.sleep(left)
    ending.require(Cause.LOST, "the lease ran out")


async def limit(ending: Ending, detail: str, *, clock: Clock, after: timedelta) -> None:
    """Demand the end of the commands after this time."""
    await clock.sleep(max(after, timedelta()))
    ending.require(Cause.TIMED_OUT, detail)


def obey(orders: Orders, ending: Ending) -> None:
    """Do what an answer to start or heartbeat says."""
    match orders.directive:
        case Directive.CONTINUE:
            return
        case Directive.CANCEL:
            ending.require(Cause.CANCELED)
