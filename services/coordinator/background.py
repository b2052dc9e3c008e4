"""Work that follows an answer. Losing it loses nothing: a timer in the store has all of it."""

import asyncio
from collections.abc import Coroutine

from services.kernel import deadline
from services.kernel.errors import AnvilError
from services.kernel.log import get_logger
from services.kernel.ports import Clock

log = get_logger(__name__)


class Background:
    """Runs follow-ups beside the requests of one process, and not by their deadlines."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._tasks: set[asyncio.Task[None]] = set()

    def follow(self, work: Coroutine[None, None, None]) -> None:
        """Do this soon; a failure is logged and left to the timers."""
        with deadline.scope(self._clock, None):
            task = asyncio.create_task(_logged(work))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def drain(self) -> None:
        """Wait for what is under way."""
        while self._tasks:
            await asyncio.gather(*self._tasks)


async def _logged(work: Coroutine[None, None, None]) -> None:
    try:
        await work
    except AnvilError as error:
        log.warning("a follow-up failed and is left to its timer", code=error.code, detail=error.detail)
