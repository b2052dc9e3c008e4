"""Those who call, as they behave: each asks again until it is answered."""

from collections.abc import Awaitable, Callable, Generator
from contextlib import contextmanager
from datetime import timedelta
from typing import TypeVar

from services.kernel.errors import AnvilError, QueueFull, Transient, WebhookChanged
from services.kernel.ids import encode
from services.kernel.wire.deliveries import DeliveryAnswer, Provider
from tests.corpus.senders import Sender
from tests.simulation.calls import Calls
from tests.simulation.custody import Place, secret_of
from tests.simulation.custody import project_id as project_id
from tests.simulation.gate import towards
from tests.simulation.hooks import send
from tests.simulation.hosts import Told
from tests.simulation.people import Person
from tests.simulation.rest import drain as drain
from tests.simulation.rest import hand as hand
from tests.simulation.runner import Phase, Runner
from tests.simulation.world import World

Answer = TypeVar("Answer")

_PATIENCE = 8
_ASKS_AGAIN_AFTER = timedelta(seconds=5)


def new_run_id(world: World) -> str:
    return f"run_{encode(world.ids.unique())}"


async def deliver(
    world: World, calls: Calls, slug: str, *, delivery_id: str, version: str | None = None, gate: int = 0
) -> DeliveryAnswer:
    """One try of GitHub, signed with the secret of this version, or with what people were told last; ingress asks that
    instance of the coordinator.
    """
    place = (slug, Provider.GITHUB)
    secret = secret_of(version) if version is not None else world.told.get(place, "nobody was told of one")
    return await tried(
        world, calls, place, Told(sender=Sender.GITHUB, delivery_id=delivery_id), secret=secret, gate=gate
    )


async def tried(world: World, calls: Calls, place: Place, told: Told, *, secret: str, gate: int = 0) -> DeliveryAnswer:
    """One try of any Git host."""
    with asking_of(calls):
        return await send(world, world.gate(gate), place, told, secret=secret)


@contextmanager
def asking_of(calls: Calls) -> Generator[None]:
    """Ingress asks this instance of the coordinator for the block alone."""
    before = towards.set(calls.node.number)
    try:
        yield
    finally:
        towards.reset(before)


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

    @property
    def place(self) -> Place:
        """Its webhook."""
        return self.slug, Provider.GITHUB

    def person(self) -> Person:
        return Person(self.world, self.world.gate())

    async def project(self) -> None:
        await self.persist(lambda calls: calls.create_project(self.slug, project_id(self.slug)))
        await self.persist(lambda _: self.person().put(self.place, enabled=True, secret=secret_of("v1")))

    async def push(self, delivery_id: str, *, version: str | None = None) -> DeliveryAnswer | None:
        """None if it is refused for good; without a version signed with what people were told last."""
        return await self.persist(
            lambda calls: deliver(self.world, calls, self.slug, delivery_id=delivery_id, version=version)
        )

    async def manual(self, *, key: str | None = None, source: str | None = None) -> str:
        """The run's id; one of no run, if it is refused."""
        told = await self.persist(
            lambda _: (
                self.person().start(self.slug, key=key) if source is None else self.person().rerun(source, key=key)
            )
        )
        return told or new_run_id(self.world)

    async def cancel(self, run_id: str) -> None:
        await self.persist(lambda _: self.person().cancel(run_id))

    async def rotate(self) -> None:
        """Look which version the webhook is at, and rotate that one, until the new secret is shown (C16)."""
        for _ in range(_PATIENCE):
            seen = await self.persist(lambda _: self.person().webhook(self.place))
            if seen is None:
                return
            try:
                await self.person().rotate(self.place, version=seen.version)
            except (Transient, WebhookChanged):
                self.world.clock.move(_ASKS_AGAIN_AFTER)
                continue
            await self.world.settle()
            return
        raise TimeoutError("nobody rotated")

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
