"""Who tasks are for: a service that remembers what reached it and answers as a test wants."""

import asyncio
from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta

from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from services.kernel.adapters.clock import SystemClock

PATIENCE = 10
"""Seconds after which a test gives up on something that should have come at once."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Arrival:
    path: str
    headers: Mapping[str, str]
    body: object
    at: timedelta

    @property
    def task(self) -> str:
        return self.headers["x-cloudtasks-taskname"]


class Receiver:
    """`answers` are the next statuses (then 204 for ever); requests wait while `open` is not set."""

    def __init__(self) -> None:
        self.arrivals: list[Arrival] = []
        self.answers: deque[int] = deque()
        self.open = asyncio.Event()
        self.open.set()
        self.most_at_once = 0
        self._at_once = 0
        self._changed = asyncio.Condition()

    async def arrived(self, count: int) -> list[Arrival]:
        """The arrivals, once there are `count` at least."""
        async with asyncio.timeout(PATIENCE), self._changed:
            await self._changed.wait_for(lambda: len(self.arrivals) >= count)
        return list(self.arrivals)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        request = Request(scope, receive)
        arrival = Arrival(
            path=request.url.path,
            headers=dict(request.headers),
            body=await request.json(),
            at=SystemClock().elapsed(),
        )
        self._at_once += 1
        self.most_at_once = max(self.most_at_once, self._at_once)
        status = self.answers.popleft() if self.answers else 204
        async with self._changed:
            self.arrivals.append(arrival)
            self._changed.notify_all()
        try:
            await self.open.wait()
        finally:
            self._at_once -= 1
        await Response(status_code=status)(scope, receive, send)
