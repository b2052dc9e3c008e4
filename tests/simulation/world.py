"""A whole small Anvil: instances of the coordinator on one store and one task queue, and time that moves when told."""

import importlib
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from random import Random

import structlog
from structlog.typing import EventDict, WrappedLogger

from services.coordinator.app import World as Surroundings
from services.coordinator.app import create
from services.coordinator.layout import INDEXES
from services.coordinator.records.run import IndexSync
from services.kernel.adapters.sqlite import SqliteStore
from services.kernel.ports import Write
from services.kernel.runs import Status
from tests.simulation.calls import Calls
from tests.simulation.invariants.step import Step
from tests.simulation.invariants.whole import check_all, check_end
from tests.simulation.node import CAP, Issuer, Node
from tests.simulation.ports import FaultyQueue, FaultyStore, Inline, InMemory, Life, Queue, SeededIds, Weather
from tests.simulation.state import State
from tests.simulation.testimony import Testimony
from tests.unit.kernel.world import MovableClock


class World:
    """`state` is what is stored, `violations` what was wrong with any commit so far."""

    def __init__(self, issuer: Issuer, *, seed: int = 0, nodes: int = 1) -> None:
        self.issuer = issuer
        self.seed = seed
        self.clock = MovableClock()
        self.ids = SeededIds(Random(f"ids {seed}"))
        self.queue = Queue()
        self.weather = Weather()
        self.testimony = Testimony()
        self.state = State()
        self.violations: list[str] = []
        self.store = SqliteStore(
            InMemory(issuer.folder / "store"), namespace="test", indexes=INDEXES, executor=Inline(), clock=self.clock
        )
        self.nodes = [self._boot() for _ in range(nodes)]

    def calls(self, index: int = 0) -> Calls:
        """Ask this instance, in its next life if the last one ended."""
        if self.nodes[index].life.ended:
            self.nodes[index] = self._boot()
            self.testimony.reached["an instance started anew"] += 1
        return Calls(self.nodes[index])

    async def settle(self) -> None:
        """Let everything happen that follows answers."""
        for node in self.nodes:
            if not node.life.ended and node.life.running.is_set():
                await node.settle()

    def running(self) -> list[int]:
        """The instances that are not stopped."""
        return [index for index, node in enumerate(self.nodes) if node.life.running.is_set()]

    async def check_end(self) -> list[str]:
        """Everything that was ever wrong, and what was not reached, by the store itself."""
        stored = await self.store.get(list(self.state.documents))
        kept = {each.ref: each.data for each in stored if each is not None}
        told = [] if State(kept).runs == self.state.runs else ["the store holds something else than was committed"]
        failed = [f"H3: {path} was answered with 500" for node in self.nodes for path in node.failures]
        return [*self.violations, *failed, *told, *check_end(self.state, self.testimony)]

    def close(self) -> None:
        self.store.close()

    def _boot(self) -> Node:
        life = Life()
        store = FaultyStore(truth=self.store, life=life, weather=self.weather, committed=self._committed)
        tasks = FaultyQueue(truth=self.queue, life=life, weather=self.weather)
        surroundings = Surroundings(store=store, tasks=tasks, keys=self.issuer.keys, clock=self.clock, ids=self.ids)
        app = create(self.issuer.settings, surroundings)
        return Node(app=app, life=life, issuer=self.issuer, clock=self.clock)

    def _committed(self, writes: Sequence[Write]) -> None:
        before, self.state = self.state, self.state.after(writes)
        step = Step(before=before, after=self.state, at=self.clock.now(), testimony=self.testimony, cap=CAP)
        self.violations += [wrong for wrong in check_all(step) if wrong not in self.violations]
        self.testimony.reached.update(_interesting(step))


def _interesting(step: Step) -> list[str]:
    reached: list[str] = []
    for was, run in step.moved():
        if (was.index_sync, run.index_sync) == (IndexSync.NEEDS_CREATE, IndexSync.NEEDS_TERMINAL_UPDATE):
            reached.append("an end before the index knew the run")
        if (was.status, run.status) == (Status.STARTING, Status.CANCEL_REQUESTED):
            reached.append("a cancel during starting")
        if was.attempt_hash is not None and run.attempt_hash is None:
            reached.append("a takeover")
        if was.result is not None and was.attempt_hash is not None and run.attempt_hash is None:
            reached.append("a takeover after a report")
    for row_id, row in step.after.deliveries.items():
        old = step.before.deliveries.get(row_id)
        if old is not None and old.expires_at <= step.at and row.decided_at > old.decided_at:
            reached.append("an expired delivery, decided anew")
    return reached


@contextmanager
def replaced(owner: object, name: str, value: object) -> Generator[None]:
    """Something else in the place of a module's or a class's part, for the block alone."""
    original = vars(owner)[name]
    setattr(owner, name, value)
    try:
        yield
    finally:
        setattr(owner, name, original)


@contextmanager
def quiet() -> Generator[None]:
    """No log, and no API description made anew for every life of an instance: these are most of what it costs."""
    before = structlog.get_config()
    structlog.configure(processors=[_dropped], cache_logger_on_first_use=False)
    try:
        with replaced(importlib.import_module("services.kernel.web.application"), "openapi", _undescribed):
            yield
    finally:
        structlog.configure(**before)


def _dropped(logger: WrappedLogger, name: str, event: EventDict) -> EventDict:
    raise structlog.DropEvent


def _undescribed(*_: object) -> dict[str, object]:
    return {}
