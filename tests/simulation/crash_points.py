"""Every point at which a process can be killed: before and after each call that it makes of the world outside.

A flow is run once to count its calls. Then it runs again for each call and side, and is killed there; the next instance
starts with an empty memory, callers ask again as they would, and in the end everything must have come to rest rightly.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from random import Random

from tests.simulation.callers import Play, drain
from tests.simulation.flows import FLOWS, Flow
from tests.simulation.node import Issuer
from tests.simulation.ports import Life, Point, Side

Place = tuple[int, Side]
"""The number of a call of the flow, and the side of it."""


@dataclass(slots=True)
class KilledAt:
    """Ends the life that comes to one of these places. Implements `Disturbance`; calls count from `start`."""

    places: Sequence[Place]
    start: int

    async def at(self, point: Point, life: Life) -> None:
        if (point.number - self.start, point.side) in self.places:
            life.end()


@dataclass(frozen=True, slots=True, kw_only=True)
class Explored:
    """What was tried of one flow; a violation is told with its places."""

    name: str
    title: str
    points: int
    singles: int
    pairs: int
    violations: tuple[str, ...]
    reached: Counter[str] = field(default_factory=Counter[str])


async def explore(issuer: Issuer, name: str, *, pairs: int | None, seed: int = 0) -> Explored:
    """Kill the flow at every place, and at this many pairs of places; None: at all of them."""
    flow = FLOWS[name]
    reached: Counter[str] = Counter()
    points, found = await run(issuer, flow, places=(), reached=reached)
    violations = [f"undisturbed: {each}" for each in found]
    singles = [((number, side),) for number in range(1, points + 1) for side in Side]
    sampled = _sampled(points, count=pairs, seed=seed)
    for places in (*singles, *sampled):
        _, found = await run(issuer, flow, places=places, reached=reached)
        violations += [f"killed {_told(places)}: {each}" for each in found]
    return Explored(
        name=name,
        title=flow.title,
        points=points,
        singles=len(singles),
        pairs=len(sampled),
        violations=tuple(violations),
        reached=reached,
    )


async def run(
    issuer: Issuer, flow: Flow, *, places: Sequence[Place], reached: Counter[str] | None = None
) -> tuple[int, list[str]]:
    """How many calls the flow made, and what was wrong; what was `reached` is added to that."""
    world = flow.world(issuer)
    play = Play(world)
    try:
        await flow.before(play)
        start = world.weather.calls
        world.weather.now = KilledAt(places, start)
        await flow.act(play)
        made = world.weather.calls - start
        return made, [*await drain(world), *flow.wrong(play)]
    finally:
        (Counter[str]() if reached is None else reached).update(world.testimony.reached)
        world.close()


def table(explored: Iterable[Explored]) -> str:
    """For people: flow, crash points, kills at one and at two of them, violations."""
    return "\n".join([head(), *map(row, explored)])


def head() -> str:
    return f"{'flow':<14}{'':<34}{'points':>7}{'kills':>7}{'pairs':>7}{'violations':>12}"


def row(each: Explored) -> str:
    return f"{each.name:<14}{each.title:<34}{each.points:>7}{each.singles:>7}{each.pairs:>7}{len(each.violations):>12}"


def _sampled(points: int, *, count: int | None, seed: int) -> list[tuple[Place, Place]]:
    every = [
        ((first, side), (second, other))
        for first, second in combinations(range(1, points + 1), 2)
        for side in Side
        for other in Side
    ]
    return every if count is None else Random(seed).sample(every, min(count, len(every)))


def _told(places: Sequence[Place]) -> str:
    return " and ".join(f"{side} call {number}" for number, side in places)
