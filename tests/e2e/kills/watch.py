"""Looks at the queues of some projects all the time, past the network that fails."""

import asyncio
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import asynccontextmanager, suppress
from datetime import timedelta

from services.coordinator.records.run import IndexSync
from services.kernel.adapters.clock import SystemClock
from tests.e2e.kills.stored import Fresh
from tests.simulation.state import State

LONG_ENOUGH = timedelta(seconds=120)
LOOK_SECONDS = 0.1
READ_ALL = timedelta(seconds=0.5)


class Watch:
    """`positions` are those that runs were seen to wait at."""

    def __init__(self, eyes: Fresh, slugs: Sequence[str]) -> None:
        self.positions: dict[str, set[int]] = {}
        self._eyes = eyes
        self._slugs = slugs

    async def keep_looking(self) -> None:
        while True:
            for project in await self._eyes.projects(self._slugs):
                for entry in project.queue:
                    self.positions.setdefault(entry.run_id, set()).add(entry.position)
            await asyncio.sleep(LOOK_SECONDS)

    async def until_ended(self, runs: int) -> None:
        """Until so many have ended; or long enough."""
        await self._until(lambda state: sum(run.status.terminal for run in state.runs.values()) >= runs)

    async def until_drained(self) -> float:
        """Until nothing waits, nothing runs, and the index follows; or long enough. How long it took, in seconds."""
        loop = asyncio.get_running_loop()
        began = loop.time()
        await self._until(_is_drained)
        return loop.time() - began

    async def _until(self, holds: Callable[[State], bool]) -> None:
        with suppress(TimeoutError):
            async with asyncio.timeout(LONG_ENOUGH.total_seconds()):
                while not holds(await self.state()):
                    await SystemClock().sleep(READ_ALL)

    async def state(self) -> State:
        return await self._eyes.state(self._slugs)


def _is_drained(state: State) -> bool:
    idle = not any(project.queue or project.active for project in state.projects.values())
    return idle and all(run.index_sync is IndexSync.DONE for run in state.runs.values())


@asynccontextmanager
async def watching(eyes: Fresh, slugs: Sequence[str]) -> AsyncGenerator[Watch]:
    watch = Watch(eyes, slugs)
    looking = asyncio.create_task(watch.keep_looking())
    try:
        yield watch
    finally:
        looking.cancel()
