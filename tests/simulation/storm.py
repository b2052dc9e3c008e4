"""Random schedules: everybody does anything at any time, and everything that may fail does; all of it by one seed."""

import asyncio
from dataclasses import dataclass, field
from random import Random

from services.kernel.errors import (
    Conflict,
    IdempotencyKeyReused,
    Invalid,
    InvalidSignature,
    NotFound,
    RepositoryMismatch,
    Transient,
    Unauthenticated,
)
from tests.simulation import deeds, wishes, works
from tests.simulation.callers import drain, project_id
from tests.simulation.cast import SLUGS, Cast, Deed
from tests.simulation.faults import Faults
from tests.simulation.node import Issuer
from tests.simulation.people import Person
from tests.simulation.profile import SMALL, Profile
from tests.simulation.runner import Runner
from tests.simulation.world import World

STEPS = SMALL.steps
_REFUSALS = (Transient, Conflict, NotFound, Invalid, InvalidSignature, RepositoryMismatch, IdempotencyKeyReused)
_CHOICES = 4
_INSTANCES = 2
_RUNNERS = 3

_DEEDS: tuple[Deed, ...] = (
    *[deeds.push] * 6,
    *[deeds.push_at_once] * 2,
    *[deeds.push_again] * 2,
    deeds.forge,
    deeds.tell,
    wishes.ask,
    wishes.crowd,
    wishes.start,
    wishes.rerun,
    *[wishes.cancel] * 2,
    *[wishes.put] * 2,
    wishes.look,
    wishes.rotate,
    wishes.rotate_at_once,
    wishes.delete,
    *[works.task] * 8,
    *[works.runner] * 15,
    *[works.sweep] * 2,
    *[works.wait] * 3,
    *[works.go_on] * 2,
)


@dataclass(slots=True)
class Storm:
    """One seed's world. A call at a stopped process stays open; it may end long after a takeover."""

    world: World
    random: Random
    cast: Cast
    steps: int = 0
    open: list[asyncio.Task[None]] = field(default_factory=list[asyncio.Task[None]])

    @classmethod
    async def begin(cls, issuer: Issuer, seed: int, profile: Profile = SMALL) -> "Storm":
        world = World(issuer, seed=seed, nodes=_INSTANCES, gates=_INSTANCES, profile=profile)
        random = Random(f"storm {seed}")
        peers: list[Runner] = []
        peers += [Runner(world=world, peers=peers) for _ in range(_RUNNERS)]
        for slug in SLUGS:
            await world.calls().create_project(slug, project_id(slug))
            await Person(world, world.gate()).put((slug, "github"), enabled=True)
        world.route = lambda: random.choice(world.running())
        world.weather.now = Faults(world, random)
        return cls(world, random, Cast(world=world, random=random, profile=profile, runners=peers))

    async def step(self) -> None:
        """One to three things at once."""
        self.steps += 1
        started = [asyncio.ensure_future(self._does()) for _ in range(self._many())]
        self.open += started
        await self._quiet()

    async def end(self) -> list[str]:
        for process in (*self.world.nodes, *self.world.gates):
            process.life.running.set()
        if self.open:
            await asyncio.wait(self.open)
        self._collect()
        return await drain(self.world)

    def _many(self) -> int:
        return self.random.choice((1, 1, 2, 3))

    async def _does(self) -> None:
        for _ in range(_CHOICES):
            if await self._did(self.random.choice(_DEEDS)):
                return

    async def _did(self, deed: Deed) -> bool:
        """Whether there was anything to do."""
        step, known = self.steps, len(self.world.violations)
        try:
            came = await deed(self.cast, self.world.calls(self.random.choice(self.world.running())))
            if came is None:
                return False
        except _REFUSALS as error:
            came = f"refused: {type(error).__name__} {error.detail}"
        except Unauthenticated:
            # Time went on by days during the call, beyond the end of its token.
            self.world.testimony.reached["a token that ended during a call"] += 1
            came = "refused: its token ended"
        ended = "" if step == self.steps else f" (begun in step {step})"
        self.world.trace.append(f"{self.steps:>4} {deed.__name__}{ended}: {came}")
        self.world.trace += [f"     !!! {each}" for each in self.world.violations[known:]]
        return True

    async def _quiet(self) -> None:
        """Until all that was begun has ended, or waits for a stopped process."""
        turns = 0
        while any(not each.done() for each in self.open) and turns < 5000:
            turns = turns + 1 if self.world.stopped else 0
            if turns > 200:
                break
            await asyncio.sleep(0)
        self._collect()

    def _collect(self) -> None:
        for each in [each for each in self.open if each.done()]:
            self.open.remove(each)
            each.result()


async def rage(
    issuer: Issuer, seed: int, *, steps: int | None = None, profile: Profile = SMALL
) -> tuple[World, list[str]]:
    """One storm from its beginning to its rest: the world then, and what was wrong."""
    storm = await Storm.begin(issuer, seed, profile)
    try:
        for _ in range(profile.steps if steps is None else steps):
            await storm.step()
        return storm.world, await storm.end()
    finally:
        storm.world.close()
