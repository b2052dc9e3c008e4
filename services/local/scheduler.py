"""What Cloud Scheduler does for a deployment, for a local stack: it has the coordinator look around, every second."""

from datetime import timedelta

from services.kernel.client import Client
from services.kernel.errors import AnvilError
from services.kernel.log import get_logger
from services.kernel.ports import Clock
from services.kernel.wire import internal
from services.kernel.wire.model import Empty

log = get_logger(__name__)


async def sweep(coordinator: Client, *, clock: Clock, every: timedelta) -> None:
    """For ever: ask for a sweep, wait, ask again. One that fails is made up for by the next."""
    while True:
        try:
            await coordinator.call(internal.SWEEP, body=Empty())
        except AnvilError as error:
            log.info("no sweep", code=error.code, detail=error.detail)
        await clock.sleep(every)
