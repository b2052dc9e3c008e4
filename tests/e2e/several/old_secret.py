"""Deliveries that are signed with one secret and go on until it is refused, at every ingress and of every kind."""

import asyncio
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from services.local.story.push import Push
from tests.e2e.stack.workplace import Workplace

Next = Callable[[], Push]
"""The next delivery to send."""

SHA = "1" * 40


@dataclass(slots=True, kw_only=True)
class Stream:
    """One sender at one ingress; `seen` is when each delivery was begun, by the loop's clock, and its answer."""

    door: Workplace
    secret: str
    next: Next
    seen: list[tuple[float, int]] = field(default_factory=list[tuple[float, int]])

    async def send(self) -> int:
        began = asyncio.get_running_loop().time()
        response = await self.door.deliver(self.next(), secret=self.secret)
        self.seen.append((began, response.status_code))
        return response.status_code

    async def keep_sending(self) -> None:
        while await self.send() != 401:
            pass

    def accepted_after(self, moment: float) -> list[int]:
        return [status for began, status in self.seen if began > moment and status < 300]


async def kinds(workplace: Workplace) -> Sequence[Next]:
    """Ignored deliveries, each new; one ignored delivery again and again; one accepted delivery again and again."""
    accepted = workplace.push(workplace.commit("echo once"))
    await workplace.finished(await workplace.run_of(accepted))
    ignored = workplace.push(SHA, branch="other")
    return (lambda: workplace.push(SHA, branch="other"), lambda: ignored, lambda: accepted)


@asynccontextmanager
async def under_load(doors: Sequence[Workplace], nexts: Sequence[Next], *, secret: str) -> AsyncGenerator[list[Stream]]:
    """Every kind at every ingress, until the last sender was refused."""
    streams = [Stream(door=door, secret=secret, next=each) for door in doors for each in nexts]
    async with asyncio.TaskGroup() as senders:
        for stream in streams:
            senders.create_task(stream.keep_sending())
        yield streams
