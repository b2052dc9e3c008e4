"""What Cloud Tasks does for a deployment, for a local stack: hand each task to its target until it is acknowledged.

At least once: a task leaves the table after a 2xx and not before, so one that a restart interrupts is delivered again.
Woken by a new task, a free place or the next due time, never by polling.
"""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import timedelta

import httpx2

from services.kernel.adapters.task_message import TaskMessage
from services.kernel.errors import Transient
from services.kernel.log import get_logger
from services.kernel.ports import Clock, Minter, Target
from services.local.task_table import TaskTable, WaitingTask

log = get_logger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class Destination:
    """Where a target listens, what its tokens are for, and how much it is given at once and how long."""

    base_url: str
    audience: str
    concurrency: int
    deadline: timedelta


def coordinator(base_url: str, audience: str) -> Destination:
    return Destination(base_url=base_url, audience=audience, concurrency=8, deadline=timedelta(seconds=60))


def runners(base_url: str, audience: str, *, count: int = 1) -> Destination:
    """One dispatch for each of `count` runners; a dispatch lasts as long as its run."""
    return Destination(base_url=base_url, audience=audience, concurrency=count, deadline=timedelta(minutes=30))


@dataclass(frozen=True, slots=True, kw_only=True)
class Backoff:
    """Waits that double."""

    least: timedelta = timedelta(seconds=0.5)
    most: timedelta = timedelta(seconds=30)

    def after(self, attempts: int) -> timedelta:
        """How long to wait once `attempts` (from 1) have failed."""
        return min(self.most, self.least * (1 << min(attempts - 1, 16)))


@dataclass(slots=True)
class _Lane:
    target: Target
    destination: Destination
    in_flight: set[str] = field(default_factory=set[str])
    wake: asyncio.Event = field(default_factory=asyncio.Event)

    @property
    def free(self) -> int:
        return self.destination.concurrency - len(self.in_flight)


class Pump:
    """The queue: `enqueue` takes tasks at any time, `run` delivers them until it is cancelled. One pump a table."""

    def __init__(
        self,
        table: TaskTable,
        destinations: Mapping[Target, Destination],
        *,
        client: httpx2.AsyncClient,
        minter: Minter,
        clock: Clock,
        backoff: Backoff = Backoff(),
    ) -> None:
        self._table = table
        self._lanes = {target: _Lane(target, destination) for target, destination in destinations.items()}
        self._client = client
        self._minter = minter
        self._clock = clock
        self._backoff = backoff

    async def enqueue(self, message: TaskMessage) -> None:
        """Keep the task on disk and let it go when it is due.

        Raises:
            Unavailable, Ambiguous: as the table says.
        """
        await self._table.add(message, now=self._clock.now())
        self._lanes[message.target].wake.set()

    async def run(self) -> None:
        async with asyncio.TaskGroup() as group:
            for lane in self._lanes.values():
                group.create_task(self._serve(lane))

    async def _serve(self, lane: _Lane) -> None:
        async with asyncio.TaskGroup() as dispatches:
            while True:
                lane.wake.clear()
                pause = await self._start_due(lane, dispatches)
                await self._until_woken(lane, pause)

    async def _start_due(self, lane: _Lane, dispatches: asyncio.TaskGroup) -> timedelta | None:
        """Start what is due and has a place; how long until more can be (None: not before the lane is woken)."""
        try:
            first = await self._table.waiting(lane.target, limit=lane.destination.concurrency + 1)
        except Transient:
            return self._backoff.least
        now = self._clock.now()
        for task in first:
            if task.message.name in lane.in_flight:
                continue
            if lane.free == 0:
                return None
            if task.due > now:
                return task.due - now
            lane.in_flight.add(task.message.name)
            dispatches.create_task(self._dispatch(lane, task))
        return None

    async def _until_woken(self, lane: _Lane, pause: timedelta | None) -> None:
        waits: list[asyncio.Task[object]] = [asyncio.create_task(lane.wake.wait())]
        if pause is not None:
            waits.append(asyncio.create_task(self._clock.sleep(pause)))
        try:
            await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for wait in waits:
                wait.cancel()

    async def _dispatch(self, lane: _Lane, task: WaitingTask) -> None:
        try:
            await self._settle(task, await self._post(lane.destination, task))
        except Transient:
            # The table is away: what it still has is delivered again, but not in a tight loop.
            await self._clock.sleep(self._backoff.least)
        finally:
            lane.in_flight.discard(task.message.name)
            lane.wake.set()

    async def _settle(self, task: WaitingTask, status: int | None) -> None:
        name, attempts = task.message.name, task.attempts + 1
        if status is not None and 200 <= status < 300:
            await self._table.finish(name, now=self._clock.now())
            return
        log.info("a task was not acknowledged", task=name, target=task.message.target, status=status)
        await self._table.postpone(name, due=self._clock.now() + self._backoff.after(attempts))

    async def _post(self, destination: Destination, task: WaitingTask) -> int | None:
        """The status that the target answered with; None if it gave no answer within its deadline."""
        try:
            async with asyncio.timeout(destination.deadline.total_seconds()):
                token = await self._minter.mint(destination.audience)
                response = await self._client.post(
                    destination.base_url.rstrip("/") + task.message.path,
                    json=task.message.body,
                    headers={"Authorization": f"Bearer {token.value}", **_headers(task)},
                    timeout=None,
                )
        except (Transient, httpx2.TransportError, TimeoutError):
            return None
        return response.status_code


def _headers(task: WaitingTask) -> dict[str, str]:
    """What Cloud Tasks says about a task; `traceparent` is the asker's."""
    trace = {"traceparent": task.message.trace} if task.message.trace else {}
    return {
        "User-Agent": "Google-Cloud-Tasks",
        "X-CloudTasks-TaskName": task.message.name,
        "X-CloudTasks-TaskRetryCount": str(task.attempts),
        **trace,
    }
