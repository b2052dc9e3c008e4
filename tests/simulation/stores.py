"""The store and the task queue as one coordinator meets them: true ones, at the end of a line that may fail."""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from services.kernel.errors import AlreadyExists, Ambiguous, PreconditionFailed
from services.kernel.ports import Create, Query, Ref, Snapshot, Store, Target, Task, Version, Write
from tests.simulation.ports import Life, Site, Weather
from tests.simulation.process import asking


@dataclass(slots=True, kw_only=True)
class FaultyStore:
    """Implements `ports.Store` for one life; `committed` is told of each commit that was applied, in order."""

    truth: Store
    life: Life
    weather: Weather
    committed: Callable[[Sequence[Write]], None]
    reached: Counter[str] = field(default_factory=Counter[str])

    async def get(self, refs: Sequence[Ref], *, fields: Sequence[str] | None = None) -> list[Snapshot | None]:
        async with self.weather.around(Site.GET, self.life):
            return await self.truth.get(refs, fields=fields)

    async def commit(self, writes: Sequence[Write]) -> list[Version]:
        asked, applied = asking.get(), False
        try:
            async with self.weather.around(Site.COMMIT, self.life):
                versions = await self.truth.commit(writes)
                applied = True
                self.committed(writes)
                if asked is not None and asked.committed(writes):
                    self.reached["an ambiguous commit, found not to be there"] += 1
                return versions
        except (Ambiguous, AlreadyExists, PreconditionFailed) as error:
            if asked is not None and (applied or isinstance(error, Ambiguous)):
                asked.left_open(writes, applied=applied)
            if applied and isinstance(error, AlreadyExists) and not any(isinstance(each, Create) for each in writes):
                raise PreconditionFailed from error
            if applied and isinstance(error, PreconditionFailed) and all(isinstance(each, Create) for each in writes):
                raise AlreadyExists from error
            raise

    async def query(self, query: Query) -> list[Snapshot]:
        async with self.weather.around(Site.QUERY, self.life):
            return await self.truth.query(query)


@dataclass(slots=True)
class Queue:
    """What the task queue holds. A name taken once is never taken again.

    `held` are tasks that it keeps back, until when; `tries` how often each was delivered in vain; `lost` the runs of
    which a task for runners disappeared, `handed` those of which there ever was one.
    """

    waiting: list[Task] = field(default_factory=list[Task])
    names: set[str] = field(default_factory=set[str])
    held: dict[str, datetime] = field(default_factory=dict[str, datetime])
    tries: Counter[str] = field(default_factory=Counter[str])
    exhausted: set[str] = field(default_factory=set[str])
    handed: set[str] = field(default_factory=set[str])
    reached: Counter[str] = field(default_factory=Counter[str])

    def take(self, task: Task) -> None:
        if task.name in self.names:
            return
        self.names.add(task.name)
        self.waiting.append(task)
        if task.target is Target.RUNNER:
            self._handed(str(task.body["run"]))

    def in_vain(self, task: Task, *, at_most: int) -> None:
        """Delivered, but not taken; after so many times it is gone for good."""
        self.tries[task.name] += 1
        if self.tries[task.name] < at_most:
            return
        if task in self.waiting:
            self.waiting.remove(task)
        self.reached["a task that the queue gave up"] += 1
        if task.target is Target.RUNNER:
            self.exhausted.add(str(task.body["run"]))

    def _handed(self, run_id: str) -> None:
        asked = asking.get()
        swept = asked is not None and asked.path == "/sweep"
        if swept and run_id not in self.handed:
            self.reached["a run handed over by the sweep alone"] += 1
        if swept and run_id in self.exhausted:
            self.reached["a task that was given up, and a sweep that made another"] += 1
        self.handed.add(run_id)


@dataclass(slots=True, kw_only=True)
class FaultyQueue:
    """Implements `ports.TaskQueue` for one life."""

    truth: Queue
    life: Life
    weather: Weather

    async def enqueue(self, task: Task) -> None:
        async with self.weather.around(Site.ENQUEUE, self.life):
            self.truth.take(task)
