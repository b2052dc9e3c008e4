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

_WATCHED = timedelta(seconds=2)


async def beat(attempt: Attempt, ending: Ending, progress: Progress, *, clock: Clock, every: timedelta) -> None:
    """Send heartbeats until the run is another's."""
    while True:
        now = clock.elapsed()
        await clock.sleep(pause(age=now - attempt.began, left=attempt.lease.left(now), every=every))
        try:
            obey(await attempt.heartbeat(progress.steps), ending)
        except OwnershipLost:
            ending.require(Cause.LOST, "another attempt or nobody owns the run")
            return
        except AnvilError as error:
            log.warning("a heartbeat was not answered", code=error.code)


def pause(*, age: timedelta, left: timedelta, every: timedelta) -> timedelta:
    """How long until the next heartbeat, at most `every`.

    The sooner the less of the lease is `left`; and the sooner the younger the run is, for a heartbeat's answer is how a
    cancel gets through, and a run that was a mistake is canceled early.
    """
    return min(every, max(age / 10, _WATCHED), max(left / 3, every / 10))


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
