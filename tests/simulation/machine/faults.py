"""Faults that wait for their call: each is armed for a kind of call and a side of it, and happens once."""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from enum import StrEnum

from services.kernel.errors import Ambiguous, TaskRejected, Unavailable
from tests.simulation.ports import Life, Point, Side, Site
from tests.simulation.world import World


class Fault(StrEnum):
    UNAVAILABLE = "an armed call is not applied"
    AMBIGUOUS = "an armed call has no answer"
    REFUSED = "an armed task is refused"
    FORGOTTEN = "the queue forgets its tasks, as armed"
    SLOW = "an armed call takes longer than a lease"
    STOP = "a process stops at an armed call"
    KILL = "a process is killed at an armed call"


What = tuple[Fault, Site, Side]
"""What happens, at which kind of call, and on which side of it."""


@dataclass(frozen=True, slots=True)
class Armed:
    """`spared` calls of the kind go by before it happens."""

    what: What
    spared: int = 0


MAY_HAPPEN: Sequence[What] = (
    *((Fault.UNAVAILABLE, site, Side.BEFORE) for site in Site if site is not Site.CALL),
    *((Fault.UNAVAILABLE, site, Side.AFTER) for site in (Site.GET, Site.QUERY)),
    *((Fault.AMBIGUOUS, site, side) for site in (Site.COMMIT, Site.ENQUEUE) for side in Side),
    (Fault.REFUSED, Site.ENQUEUE, Side.BEFORE),
    (Fault.FORGOTTEN, Site.ENQUEUE, Side.AFTER),
    *((Fault.SLOW, site, side) for site in (Site.GET, Site.COMMIT) for side in Side),
    *((Fault.STOP, site, side) for site in (Site.GET, Site.COMMIT, Site.ENQUEUE) for side in Side),
    *((Fault.KILL, site, side) for site in (Site.GET, Site.COMMIT, Site.ENQUEUE) for side in Side),
)
"""What a port may do on which side, by its contract: a call that was applied does not say that it was not."""


@dataclass(slots=True)
class Arsenal:
    """Implements `Disturbance`. At each call others may go first: as many turns as `pauses` says next, else one."""

    world: World
    armed: list[Armed] = field(default_factory=list[Armed])
    pauses: list[int] = field(default_factory=list[int])

    async def at(self, point: Point, life: Life) -> None:
        for _ in range(self.pauses.pop(0) if self.pauses else 1):
            await asyncio.sleep(0)
        for each in [each for each in self.armed if each.what[1:] == (point.site, point.side)]:
            self.armed.remove(each)
            fault = each.what[0]
            if each.spared:
                self.armed.append(Armed(each.what, each.spared - 1))
            else:
                self.world.testimony.reached[fault] += 1
                _HAPPENS[fault](self.world, life)


def _unavailable(world: World, life: Life) -> None:
    raise Unavailable


def _ambiguous(world: World, life: Life) -> None:
    raise Ambiguous


def _refused(world: World, life: Life) -> None:
    raise TaskRejected


def _forgotten(world: World, life: Life) -> None:
    world.queue.waiting.clear()


def _slow(world: World, life: Life) -> None:
    world.clock.move(timedelta(seconds=50))


def _stop(world: World, life: Life) -> None:
    if len(world.running()) > 1:
        life.running.clear()


def _kill(world: World, life: Life) -> None:
    life.end()


_HAPPENS: dict[Fault, Callable[[World, Life], None]] = {
    Fault.UNAVAILABLE: _unavailable,
    Fault.AMBIGUOUS: _ambiguous,
    Fault.REFUSED: _refused,
    Fault.FORGOTTEN: _forgotten,
    Fault.SLOW: _slow,
    Fault.STOP: _stop,
    Fault.KILL: _kill,
}
