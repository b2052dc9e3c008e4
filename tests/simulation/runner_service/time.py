"""Time that passes only when nobody has anything else to do."""

import asyncio
from collections.abc import Callable, Coroutine
from contextvars import Context
from datetime import timedelta
from heapq import heappop, heappush
from typing import TypeVar

from tests.unit.kernel.world import MovableClock

Answer = TypeVar("Answer")

_STILL = 3
"""Turns of the loop in which nothing may be ready, so that what lies in a pipe has been read too."""


async def quiet() -> None:
    """Wait until everybody waits for something that is not here yet."""
    ready = vars(asyncio.get_running_loop())["_ready"]
    still = 0
    while still < _STILL:
        await asyncio.sleep(0)
        still = 0 if ready else still + 1


def apart(work: Coroutine[None, None, Answer]) -> asyncio.Task[Answer]:
    """Do it as somebody who knows nothing of who asked: no deadline, no trace, no process of theirs."""
    return asyncio.get_running_loop().create_task(work, context=Context())


class SteppedClock(MovableClock):
    """Sleepers wake in the order of their moments. A `move` is a jump: whoever is due by then wakes late."""

    def __init__(self) -> None:
        super().__init__()
        self._sleepers: list[tuple[timedelta, int, asyncio.Future[None]]] = []
        self._count = 0

    async def sleep(self, duration: timedelta) -> None:
        if duration <= timedelta():
            await asyncio.sleep(0)
            return
        woken = asyncio.get_running_loop().create_future()
        self._count += 1
        heappush(self._sleepers, (self.passed + duration, self._count, woken))
        await woken

    def move(self, duration: timedelta) -> None:
        self.passed += duration
        self._wake()

    async def let_pass(self, duration: timedelta) -> None:
        """Go from one sleeper's moment to the next, and let everybody act in between."""
        end = self.passed + duration
        await quiet()
        while self._sleepers and self._sleepers[0][0] <= end:
            self.passed = max(self.passed, self._sleepers[0][0])
            self._wake()
            await quiet()
        self.passed = max(self.passed, end)

    async def until(self, done: Callable[[], bool], *, at_most: timedelta) -> None:
        """Let time pass up to the moment at which something has come true."""
        end = self.passed + at_most
        await quiet()
        while not done() and self.passed < end:
            following = self._sleepers[0][0] if self._sleepers else end
            await self.let_pass(max(min(following, end) - self.passed, timedelta()))

    def _wake(self) -> None:
        while self._sleepers and self._sleepers[0][0] <= self.passed:
            _, _, woken = heappop(self._sleepers)
            if not woken.done():
                woken.set_result(None)
