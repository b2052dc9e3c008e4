"""Those who call, as they behave: each asks again until it is answered. And what brings any world to rest."""

from collections.abc import Awaitable, Callable
from datetime import timedelta
from typing import TypeVar

from services.kernel.errors import AnvilError, QueueFull, Transient
from services.kernel.ids import encode
from services.kernel.ports import Target, Task
from services.kernel.wire.deliveries import DeliveryAnswer
from tests.simulation.calls import Calls
from tests.simulation.ports import Calm
from tests.simulation.runner import Phase, Runner
from tests.simulation.testimony import Answered
from tests.simulation.world import World
from tests.unit.coordinator.builders import canonical

Answer = TypeVar("Answer")

_PATIENCE = 8
_ASKS_AGAIN_AFTER = timedelta(seconds=5)
_ROUNDS = 100
_ROUND = timedelta(seconds=61)


def project_id(slug: str) -> str:
    return f"prj_{slug:0>22}"


def new_run_id(world: World) -> str:
    return f"run_{encode(world.ids.unique())}"


async def deliver(world: World, calls: Calls, slug: str, *, delivery_id: str, version: str) -> DeliveryAnswer:
    """One try of a provider; ingress offers a run id of its own each time."""
    asked_at = world.clock.now()
    answer = await calls.deliver(slug, canonical(delivery_id), version=version, run_id=new_run_id(world))
    answered = Answered(key=(slug, delivery_id), asked_at=asked_at, at=world.clock.now(), answer=answer)
    world.testimony.delivered(answered)
    return answer


async def ask_for_run(
    world: World, calls: Calls, slug: str, *, run_id: str, source: str | None = None, key: str | None = None
) -> str:
    """One try of a person."""
    try:
        told = await calls.ask_for_run(slug, run_id, source=source, key=key)
    except QueueFull:
        world.testimony.reached["a run refused by a full queue"] += 1
        if key is None and run_id not in world.state.runs:
            world.testimony.refused.add(run_id)
        raise
    world.testimony.acked.add(told)
    return told


class Play:
    """A flow's callers, all of one project, at the first instance."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.runner = Runner(world=world)
        self.slug = "site"

    async def persist(self, ask: Callable[[Calls], Awaitable[Answer]]) -> Answer | None:
        """Ask until there is an answer; None if it is a refusal for good."""
        for _ in range(_PATIENCE):
            try:
                answer = await ask(self.world.calls())
                await self.world.settle()
            except Transient:
                self.world.clock.move(_ASKS_AGAIN_AFTER)
                continue
            except AnvilError:
                return None
            return answer
        raise TimeoutError("nobody answered")

    async def project(self) -> None:
        await self.persist(lambda calls: calls.create_project(self.slug, project_id(self.slug)))
        await self.persist(lambda calls: calls.create_webhook(self.slug, "v1"))

    async def push(self, delivery_id: str, *, version: str = "v1") -> DeliveryAnswer | None:
        return await self.persist(
            lambda calls: deliver(self.world, calls, self.slug, delivery_id=delivery_id, version=version)
        )

    async def manual(self, *, key: str | None = None, source: str | None = None) -> str:
        run_id = new_run_id(self.world)
        told = await self.persist(
            lambda calls: ask_for_run(self.world, calls, self.slug, run_id=run_id, key=key, source=source)
        )
        return told or run_id

    async def cancel(self, run_id: str) -> None:
        await self.persist(lambda calls: calls.cancel(run_id))

    async def begin(self, run_id: str) -> None:
        """Claim and start; the commands run."""
        self.runner.take(run_id)
        await self.until(Phase.RUNNING)

    async def until(self, phase: Phase) -> None:
        """The runner goes on up to this phase, or to its end."""
        for _ in range(_PATIENCE * 4):
            if self.runner.phase in (phase, Phase.IDLE):
                await self.world.settle()
                return
            before = self.runner.phase
            await self.runner.goes_on(self.world.calls())
            if self.runner.phase is before:
                self.world.clock.move(_ASKS_AGAIN_AFTER)
        raise TimeoutError(f"the runner is still {self.runner.phase}")

    async def beat(self) -> None:
        await self.runner.beats(self.world.calls())
        await self.world.settle()

    async def sweep(self, *, later: timedelta = timedelta()) -> None:
        self.world.clock.move(later)
        await self.persist(lambda calls: calls.sweep())

    def next_run(self) -> str:
        """The run that is first in the queue."""
        return self.world.state.projects[project_id(self.slug)].queue[0].run_id


async def hand(world: World, task: Task, runner: Runner, calls: Calls) -> None:
    """One delivery of a task, at a coordinator or a runner."""
    run_id = str(task.body["run"])
    if task.target is Target.RUNNER:
        if runner.phase is Phase.IDLE:
            runner.take(run_id)
        return
    try:
        await calls.look(run_id)
    except AnvilError:
        return


async def drain(world: World) -> list[str]:
    """Nothing fails any more and time goes on; what is wrong in the end, or was on the way."""
    world.weather.now = Calm()
    for node in world.nodes:
        node.life.running.set()
    found: list[str] = []
    for _ in range(_ROUNDS):
        await _round(world)
        found = await world.check_end()
        if not found or world.violations:
            break
    return found


async def _round(world: World) -> None:
    due = [task for task in world.queue.waiting if task.not_before is None or task.not_before <= world.clock.now()]
    for task in due:
        world.queue.waiting.remove(task)
        runner = Runner(world=world)
        await hand(world, task, runner, world.calls())
        while runner.phase is not Phase.IDLE:
            await runner.goes_on(world.calls())
        await world.settle()
    await world.calls().sweep()
    await world.settle()
    world.clock.move(_ROUND)
