"""A whole small Anvil: ingress and coordinators on one store and one task queue, and time that moves when told."""

import asyncio
from collections.abc import Callable, Sequence
from random import Random

from services.coordinator.app import World as Surroundings
from services.coordinator.app import create
from services.coordinator.layout import INDEXES
from services.coordinator.settings import CoordinatorSettings
from services.ingress import app as ingress
from services.kernel.adapters.sqlite import SqliteStore
from services.kernel.ports import Write
from tests.simulation import gate
from tests.simulation.calls import Calls
from tests.simulation.custody import Place, Secrets
from tests.simulation.gate import Gate, Line
from tests.simulation.invariants.step import Step
from tests.simulation.invariants.whole import check_all, check_end
from tests.simulation.node import CAP as CAP
from tests.simulation.node import Issuer, Node
from tests.simulation.ports import Calm, Inline, InMemory, Life, SeededIds, Weather
from tests.simulation.process import Process
from tests.simulation.profile import Profile
from tests.simulation.quiet import quiet as quiet
from tests.simulation.quiet import replaced as replaced
from tests.simulation.sometimes import interesting
from tests.simulation.state import State
from tests.simulation.stores import FaultyQueue, FaultyStore, Queue
from tests.simulation.testimony import Testimony
from tests.unit.kernel.world import MovableClock


class World:
    """`state` is what is stored, `violations` what was wrong with any commit or answer so far.

    `told` is what people learned of secrets, and so what Git hosts sign with; `retired` what they had learned before.
    `late` are calls that go on though nobody waits for them, `trace` what happened, for people.
    """

    def __init__(
        self,
        issuer: Issuer,
        *,
        seed: int = 0,
        nodes: int = 1,
        gates: int = 1,
        profile: Profile | None = None,
        clock: MovableClock | None = None,
    ) -> None:
        self.issuer = issuer
        self.seed = seed
        self.cap = issuer.settings.queue_cap if profile is None else profile.cap
        self.clock = clock or MovableClock()
        self.ids = SeededIds(Random(f"ids {seed}"))
        self.testimony = Testimony()
        self.queue = Queue(reached=self.testimony.reached)
        self.weather = Weather()
        self.state = State()
        self.secrets = Secrets()
        self.told: dict[Place, str] = {}
        self.retired: list[tuple[Place, str]] = []
        self.trace: list[str] = []
        self.late: list[asyncio.Task[None]] = []
        self.violations: list[str] = []
        self.failures: list[str] = []
        self.route: Callable[[], int] = self._first
        self.store = SqliteStore(
            InMemory(issuer.folder / "store"), namespace="test", indexes=INDEXES, executor=Inline(), clock=self.clock
        )
        self.nodes = [self._boot(number) for number in range(nodes)]
        self.gates = [self._open(number) for number in range(gates)]

    def calls(self, index: int = 0) -> Calls:
        """Ask this instance of the coordinator, in its next life if the last one ended."""
        if self.nodes[index].life.ended:
            self.nodes[index] = self._boot(index)
            self.testimony.reached["an instance started anew"] += 1
        return Calls(self.nodes[index])

    def gate(self, index: int = 0) -> Gate:
        """This instance of ingress, in its next life if the last one ended."""
        if self.gates[index].life.ended:
            self.gates[index] = self._open(index)
            self.testimony.reached["an ingress started anew"] += 1
        return self.gates[index]

    async def settle(self) -> None:
        """Let everything happen that follows answers of coordinators."""
        for node in self.nodes:
            if not node.life.ended and node.life.running.is_set():
                await node.settle()

    async def calm(self) -> None:
        """Nothing fails or stands still any more; what went on for nobody ends, and refusals are told."""
        self.weather.now = Calm()
        for process in (*self.nodes, *self.gates):
            process.life.running.set()
        if self.late:
            await asyncio.wait(self.late)
        for number in range(len(self.gates)):
            await self.gate(number).settle()

    def running(self) -> list[int]:
        """The coordinators that are not stopped."""
        return [index for index, node in enumerate(self.nodes) if node.life.running.is_set()]

    def open(self) -> list[int]:
        """The instances of ingress that are not stopped."""
        return [index for index, gate in enumerate(self.gates) if gate.life.running.is_set()]

    def may_stop(self, life: Life) -> bool:
        """Whether there is another of its kind that goes on."""
        kind = self.nodes if any(node.life is life for node in self.nodes) else self.gates
        return not life.ended and any(each.life is not life and each.life.running.is_set() for each in kind)

    @property
    def stopped(self) -> bool:
        return len(self.running()) < len(self.nodes) or len(self.open()) < len(self.gates)

    async def check_end(self) -> list[str]:
        """Everything that was ever wrong, and what was not reached, by the store itself."""
        stored = await self.store.get(list(self.state.documents))
        kept = {each.ref: each.data for each in stored if each is not None}
        told = [] if State(kept).runs == self.state.runs else ["the store holds something else than was committed"]
        failed = [f"H3: {path} was answered with 500" for path in self.failures]
        return [*self.violations, *failed, *told, *check_end(self.state, self.testimony)]

    def close(self) -> None:
        self.store.close()

    def _first(self) -> int:
        return next(iter(self.running()), 0)

    def _routed(self, number: int | None) -> Process:
        return self.calls(self.route() if number is None else number).node

    def _settings(self) -> CoordinatorSettings:
        return self.issuer.settings.model_copy(update={"queue_cap": self.cap})

    def _surroundings(self, life: Life) -> Surroundings:
        """What a coordinator has of the world in this life."""
        store = FaultyStore(
            truth=self.store,
            life=life,
            weather=self.weather,
            committed=self._committed,
            reached=self.testimony.reached,
        )
        tasks = FaultyQueue(truth=self.queue, life=life, weather=self.weather)
        return Surroundings(store=store, tasks=tasks, keys=self.issuer.keys, clock=self.clock, ids=self.ids)

    def _boot(self, number: int) -> Node:
        life, reached = Life(name=f"coordinator {number}"), self.testimony.reached
        app = create(self._settings(), self._surroundings(life))
        return Node(
            app=app,
            life=life,
            reached=reached,
            failures=self.failures,
            issuer=self.issuer,
            clock=self.clock,
            number=number,
        )

    def _open(self, number: int) -> Gate:
        line = Line(
            life=Life(name=f"ingress {number}"),
            weather=self.weather,
            route=self._routed,
            late=self.late,
            reached=self.testimony.reached,
        )
        app = ingress.create(gate.SETTINGS, gate.surroundings(self.issuer, line, clock=self.clock, ids=self.ids))
        return Gate(
            app=app,
            life=line.life,
            reached=self.testimony.reached,
            failures=self.failures,
            issuer=self.issuer,
            clock=self.clock,
            number=number,
        )

    def _committed(self, writes: Sequence[Write]) -> None:
        before, self.state = self.state, self.state.after(writes)
        self.secrets.note(self.state.projects)
        step = Step(before=before, after=self.state, at=self.clock.now(), testimony=self.testimony, cap=self.cap)
        self.violations += [wrong for wrong in check_all(step) if wrong not in self.violations]
        self.testimony.reached.update(interesting(step))
