"""One life of one process: a production application, which answers until its life ends."""

import asyncio
from collections import Counter
from collections.abc import Sequence
from contextvars import ContextVar
from dataclasses import dataclass, field

import httpx2
from starlette.applications import Starlette
from starlette.types import Message, Receive, Scope, Send

from services.kernel.ports import Ref, Write
from tests.simulation.ports import Life


@dataclass(slots=True)
class Asking:
    """One request while it is answered: which, and its commits of which nobody said whether they were applied."""

    path: str
    applied: list[frozenset[Ref]] = field(default_factory=list[frozenset[Ref]])
    lost: list[frozenset[Ref]] = field(default_factory=list[frozenset[Ref]])

    def left_open(self, writes: Sequence[Write], *, applied: bool) -> None:
        (self.applied if applied else self.lost).append(frozenset(write.ref for write in writes))

    def committed(self, writes: Sequence[Write]) -> bool:
        """Whether this writes again what was left open and had not been applied."""
        refs = {write.ref for write in writes}
        again = any(refs & each for each in self.lost)
        self.lost = [each for each in self.lost if not refs & each]
        self.applied = [each for each in self.applied if not refs & each]
        return again


asking: ContextVar[Asking | None] = ContextVar("asking", default=None)
"""The request that what runs now belongs to."""


@dataclass(slots=True, kw_only=True)
class Process:
    """`failures` takes answers with status 500, which nobody may ever get (H3)."""

    app: Starlette
    life: Life
    reached: Counter[str]
    failures: list[str]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        asked = Asking(str(scope["path"]))

        async def observed(message: Message) -> None:
            status = message.get("status")
            if status == 500:
                self.failures.append(asked.path)
            if isinstance(status, int) and status < 300 and asked.applied:
                self.reached["an ambiguous commit, found to be ours"] += 1
            await send(message)

        outside = asking.set(asked)
        request = asyncio.ensure_future(self._serve(scope, receive, observed))
        asking.reset(outside)
        try:
            await asyncio.wait([request])
        except asyncio.CancelledError:
            # Whoever asked is gone, and the request goes on, as it does where nobody tells a server of that.
            request.add_done_callback(forgotten)
            raise
        if self.life.ended:
            forgotten(request)
            raise httpx2.ReadError("the process is gone")
        request.result()

    async def settle(self) -> None:
        """Wait for what follows the answers, unless the process is gone by then."""
        following = asyncio.ensure_future(self._drained())
        await asyncio.wait([following])
        if self.life.ended:
            forgotten(following)
        else:
            following.result()

    async def _serve(self, scope: Scope, receive: Receive, send: Send) -> None:
        await self.app(scope, receive, send)

    async def _drained(self) -> None:
        async with self.app.router.lifespan_context(self.app):
            pass


def forgotten(work: asyncio.Future[None]) -> None:
    """Nobody learns what became of work that a killed process was doing."""
    if not work.cancelled():
        work.exception()
