"""What may go wrong in a storm, by chance, at any call of a port."""

import asyncio
from datetime import timedelta
from enum import StrEnum
from random import Random

from services.kernel.errors import (
    AlreadyExists,
    Ambiguous,
    Contended,
    PreconditionFailed,
    TaskRejected,
    Transient,
    Unavailable,
)
from tests.simulation.gate import GivesUp
from tests.simulation.ports import Life, Point, Side, Site
from tests.simulation.world import World


class Fault(StrEnum):
    """Each is switched on for some seeds, and then happens by chance."""

    NOT_APPLIED = "a call is not applied"
    UNANSWERED = "an applied call is not answered"
    LOST_BOTH = "a call is neither applied nor answered"
    LIED = "an applied commit is told to have met another's"
    ABORTED = "a commit gives way to others"
    GIVEN_UP = "a caller does not wait for what goes on"
    SLOW = "a call takes longer than a lease"
    KILL = "a process is killed"
    STOP = "a process is stopped"
    REFUSED = "the task queue refuses a task"
    FORGOTTEN = "the task queue forgets its tasks"
    HELD = "the task queue keeps a task back for up to an hour"


_CHANCE: dict[Fault, float] = {
    Fault.NOT_APPLIED: 0.03,
    Fault.UNANSWERED: 0.05,
    Fault.LOST_BOTH: 0.03,
    Fault.LIED: 0.05,
    Fault.ABORTED: 0.05,
    Fault.GIVEN_UP: 0.08,
    Fault.SLOW: 0.01,
    Fault.KILL: 0.02,
    Fault.STOP: 0.02,
    Fault.REFUSED: 0.2,
    Fault.FORGOTTEN: 0.05,
    Fault.HELD: 0.2,
}
_WRITES = frozenset({Site.COMMIT, Site.ENQUEUE, Site.CALL, Site.UPSTREAM})


class Faults:
    """Implements `Disturbance`. Besides failing it lets others go first, so that calls meet in every order."""

    def __init__(self, world: World, random: Random) -> None:
        self._world = world
        self._random = random
        self._on = {fault for fault in Fault if random.random() < 0.5}

    async def at(self, point: Point, life: Life) -> None:
        for _ in range(self._random.randrange(3)):
            await asyncio.sleep(0)
        if self._happens(Fault.SLOW, point, life):
            self._world.clock.move(timedelta(seconds=self._random.choice((5, 31, 50))))
        if self._happens(Fault.KILL, point, life):
            life.end()
        if self._world.may_stop(life) and self._happens(Fault.STOP, point, life):
            life.running.clear()
        if point.site is Site.ENQUEUE and point.side is Side.AFTER:
            self._queue(point, life)
        if (failure := self._failure(point, life)) is not None:
            raise failure

    def _queue(self, point: Point, life: Life) -> None:
        queue = self._world.queue
        if self._happens(Fault.FORGOTTEN, point, life):
            queue.waiting.clear()
        elif queue.waiting and self._happens(Fault.HELD, point, life):
            late = timedelta(seconds=self._random.choice((5, 60, 900, 3600)))
            queue.held[queue.waiting[-1].name] = self._world.clock.now() + late

    def _failure(self, point: Point, life: Life) -> Exception | None:
        for fault, failure in _FAILURES.get((point.site in _WRITES, point.side), ()):
            if self._happens(fault, point, life):
                return failure()
        for fault, failures in _OF.get((point.site, point.side), {}).items():
            if self._happens(fault, point, life):
                return self._random.choice(failures)()
        return None

    def _happens(self, fault: Fault, point: Point, life: Life) -> bool:
        happens = fault in self._on and self._random.random() < _CHANCE[fault]
        if happens:
            self._world.testimony.reached[fault] += 1
            self._world.trace.append(f"         {life.name}: {fault} ({point.side} {point.site})")
        return happens


_FAILURES: dict[tuple[bool, Side], tuple[tuple[Fault, type[Transient]], ...]] = {
    (True, Side.BEFORE): ((Fault.NOT_APPLIED, Unavailable), (Fault.LOST_BOTH, Ambiguous)),
    (True, Side.AFTER): ((Fault.UNANSWERED, Ambiguous),),
    (False, Side.BEFORE): ((Fault.NOT_APPLIED, Unavailable),),
    (False, Side.AFTER): ((Fault.NOT_APPLIED, Unavailable),),
}
"""By whether it may change something, and the side of the call."""

_OF: dict[tuple[Site, Side], dict[Fault, tuple[type[Exception], ...]]] = {
    (Site.ENQUEUE, Side.BEFORE): {Fault.REFUSED: (TaskRejected,)},
    (Site.COMMIT, Side.BEFORE): {Fault.ABORTED: (Contended,)},
    # Where something between us and the store asks again by itself, our own write stands in the way of its repetition.
    (Site.COMMIT, Side.AFTER): {Fault.LIED: (AlreadyExists, PreconditionFailed)},
    (Site.CALL, Side.BEFORE): {Fault.GIVEN_UP: (GivesUp,)},
}
