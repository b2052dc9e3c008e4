"""Random schedules: everybody does anything at any time, and everything that may fail does; all of it by one seed."""

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from datetime import timedelta
from enum import StrEnum
from random import Random

from services.kernel.errors import (
    Ambiguous,
    Conflict,
    IdempotencyKeyReused,
    NotFound,
    StaleVerification,
    TaskRejected,
    Transient,
    Unauthenticated,
    Unavailable,
)
from services.kernel.ports import Target
from services.kernel.runs import Status
from tests.simulation.callers import ask_for_run, deliver, drain, hand, new_run_id, project_id
from tests.simulation.calls import Calls
from tests.simulation.node import Issuer
from tests.simulation.ports import Life, Point, Side, Site
from tests.simulation.runner import Phase, Runner
from tests.simulation.world import World

SLUGS = ("site", "other")
STEPS = 60

_MINUTES_AND_DAYS = (1, 5, 20, 29, 46, 61, 301, 3600, 3 * 86400 + 2)


class Fault(StrEnum):
    """Each is switched on for some seeds, and then happens by chance."""

    NOT_APPLIED = "a call is not applied"
    UNANSWERED = "an applied call is not answered"
    LOST_BOTH = "a call is neither applied nor answered"
    SLOW = "a call takes longer than a lease"
    KILL = "a process is killed"
    STOP = "a process is stopped"
    REFUSED = "the task queue refuses a task"
    FORGOTTEN = "the task queue forgets its tasks"


_CHANCE: dict[Fault, float] = {
    Fault.NOT_APPLIED: 0.03,
    Fault.UNANSWERED: 0.05,
    Fault.LOST_BOTH: 0.03,
    Fault.SLOW: 0.01,
    Fault.KILL: 0.02,
    Fault.STOP: 0.02,
    Fault.REFUSED: 0.2,
    Fault.FORGOTTEN: 0.05,
}


class Faults:
    """Implements `Disturbance`. Besides failing it lets others go first, so that calls meet in every order."""

    def __init__(self, world: World, random: Random) -> None:
        self._world = world
        self._random = random
        self._on = {fault for fault in Fault if random.random() < 0.5}

    async def at(self, point: Point, life: Life) -> None:
        for _ in range(self._random.randrange(3)):
            await asyncio.sleep(0)
        writes = point.site in (Site.COMMIT, Site.ENQUEUE)
        if self._happens(Fault.SLOW):
            self._world.clock.move(timedelta(seconds=self._random.choice((5, 31, 50))))
        if self._happens(Fault.KILL):
            life.end()
        if self._happens(Fault.STOP) and len(self._world.running()) > 1 and not life.ended:
            life.running.clear()
        if point.site is Site.ENQUEUE:
            self._queue(point.side)
        if point.side is Side.BEFORE and self._happens(Fault.NOT_APPLIED):
            raise Unavailable
        if writes and point.side is Side.BEFORE and self._happens(Fault.LOST_BOTH):
            raise Ambiguous
        if writes and point.side is Side.AFTER and self._happens(Fault.UNANSWERED):
            raise Ambiguous
        if not writes and point.side is Side.AFTER and self._happens(Fault.NOT_APPLIED):
            raise Unavailable

    def _queue(self, side: Side) -> None:
        if side is Side.BEFORE and self._happens(Fault.REFUSED):
            raise TaskRejected
        if side is Side.AFTER and self._happens(Fault.FORGOTTEN):
            self._world.queue.waiting.clear()

    def _happens(self, fault: Fault) -> bool:
        happens = fault in self._on and self._random.random() < _CHANCE[fault]
        self._world.testimony.reached[fault] += happens
        return happens


@dataclass(slots=True)
class Storm:
    """One seed's world. A call at a stopped process stays open; it may end long after a takeover."""

    world: World
    random: Random
    runners: list[Runner] = field(default_factory=list[Runner])
    versions: dict[str, str] = field(default_factory=dict[str, str])
    asked: set[tuple[str, str]] = field(default_factory=set[tuple[str, str]])
    under_way: Counter[tuple[str, str]] = field(default_factory=Counter[tuple[str, str]])
    busy: set[int] = field(default_factory=set[int])
    open: list[asyncio.Task[None]] = field(default_factory=list[asyncio.Task[None]])

    @classmethod
    async def begin(cls, issuer: Issuer, seed: int) -> "Storm":
        world, random = World(issuer, seed=seed, nodes=2), Random(f"storm {seed}")
        peers: list[Runner] = []
        peers += [Runner(world=world, peers=peers) for _ in range(3)]
        for slug in SLUGS:
            await world.calls().create_project(slug, project_id(slug))
            await world.calls().create_webhook(slug, f"{slug}-v1")
        world.weather.now = Faults(world, random)
        return cls(world, random, runners=peers, versions={slug: f"{slug}-v1" for slug in SLUGS})

    async def step(self) -> None:
        """One to three things at once."""
        started = [asyncio.ensure_future(self._does(self.random.choice(_DEEDS))) for _ in range(self._many())]
        self.open += started
        await self._quiet()

    async def end(self) -> list[str]:
        for node in self.world.nodes:
            node.life.running.set()
        if self.open:
            await asyncio.wait(self.open)
        self._collect()
        return await drain(self.world)

    def _many(self) -> int:
        return self.random.choice((1, 1, 2, 3))

    async def _does(self, deed: "Deed") -> None:
        try:
            await deed(self, self.world.calls(self.random.choice(self.world.running())))
        except StaleVerification:
            self.world.testimony.reached["a rotation during a delivery"] += 1
        except (Transient, Conflict, NotFound, IdempotencyKeyReused):
            return
        except Unauthenticated:
            # Time went on by days during the call, beyond the end of its token.
            self.world.testimony.reached["a token that ended during a call"] += 1

    async def _quiet(self) -> None:
        """Until all that was begun has ended, or waits for a stopped process."""
        turns = 0
        while any(not each.done() for each in self.open) and turns < 5000:
            turns = turns + 1 if len(self.world.running()) < len(self.world.nodes) else 0
            if turns > 200:
                break
            await asyncio.sleep(0)
        self._collect()

    def _collect(self) -> None:
        for each in [each for each in self.open if each.done()]:
            self.open.remove(each)
            each.result()

    # Deeds

    async def push(self, calls: Calls) -> None:
        slug = self.random.choice(SLUGS)
        delivery_id = self.random.choice("abcdefgh")
        version = self.versions[slug]
        if (slug, delivery_id) in self.asked:
            self.world.testimony.reached["a delivery that came again"] += 1
        if self.under_way[slug, delivery_id]:
            self.world.testimony.reached["a delivery that came again while it was decided"] += 1
        self.asked.add((slug, delivery_id))
        self.under_way[slug, delivery_id] += 1
        try:
            await deliver(self.world, calls, slug, delivery_id=delivery_id, version=version)
        finally:
            self.under_way[slug, delivery_id] -= 1

    async def ask(self, calls: Calls) -> None:
        key = self.random.choice((None, "nightly", "hourly"))
        await ask_for_run(self.world, calls, self.random.choice(SLUGS), run_id=new_run_id(self.world), key=key)

    async def rerun(self, calls: Calls) -> None:
        if ended := [run for run in self.world.state.runs.values() if run.status.terminal]:
            run = self.random.choice(ended)
            run_id = new_run_id(self.world)
            await ask_for_run(self.world, calls, run.project, run_id=run_id, source=run.run_id)

    async def cancel(self, calls: Calls) -> None:
        if self.world.state.runs:
            await calls.cancel(self.random.choice(list(self.world.state.runs)))

    async def task(self, calls: Calls) -> None:
        """Any task that is there, in any order; it may come again."""
        waiting = self.world.queue.waiting
        if not waiting:
            return
        task = self.random.choice(waiting)
        if self.random.random() < 0.8:
            waiting.remove(task)
        idle = [each for each in self.runners if each.phase is Phase.IDLE and id(each) not in self.busy]
        if task.target is Target.COORDINATOR or idle:
            await hand(self.world, task, self.random.choice(idle or self.runners), calls)

    async def runner(self, calls: Calls) -> None:
        free = [each for each in self.runners if each.phase is not Phase.IDLE and id(each) not in self.busy]
        if not free:
            return
        runner = self.random.choice(free)
        self.busy.add(id(runner))
        try:
            await self._lives(runner, calls)
        finally:
            self.busy.discard(id(runner))

    async def _lives(self, runner: Runner, calls: Calls) -> None:
        if self.random.random() < 0.08:
            runner.dies()
            return
        if runner.phase is Phase.RUNNING and self.random.random() < 0.4:
            await runner.beats(calls)
            return
        if runner.phase is Phase.RUNNING:
            runner.ending = self.random.choice((Status.PASSED, Status.FAILED))
            runner.torn_down = self.random.random() < 0.9
        await runner.goes_on(calls)

    async def sweep(self, calls: Calls) -> None:
        await calls.sweep()

    async def wait(self, calls: Calls) -> None:
        weights = (20, 20, 10, 10, 10, 5, 5, 2, 3)
        self.world.clock.move(timedelta(seconds=self.random.choices(_MINUTES_AND_DAYS, weights)[0]))

    async def go_on(self, calls: Calls) -> None:
        """Stopped processes run again, each in the middle of what it was doing."""
        for node in self.world.nodes:
            if not node.life.running.is_set():
                self.world.testimony.reached["a stopped process that went on"] += 1
            node.life.running.set()

    async def rotate(self, calls: Calls) -> None:
        slug = self.random.choice(SLUGS)
        old, new = self.versions[slug], f"{slug}-{self.world.ids.token()}"
        self.world.testimony.rotations[new] = old
        await calls.rotate(slug, new, if_version=old)
        self.versions[slug] = new

    async def verify(self, calls: Calls) -> None:
        """Ingress looks the webhook up, so that a rotation whose answer was lost is known too."""
        slug = self.random.choice(SLUGS)
        self.versions[slug] = (await calls.verification(slug)).version or self.versions[slug]


Deed = Callable[[Storm, Calls], Awaitable[None]]

_DEEDS: tuple[Deed, ...] = (
    *[Storm.push] * 6,
    *[Storm.ask] * 2,
    Storm.rerun,
    *[Storm.cancel] * 2,
    *[Storm.task] * 8,
    *[Storm.runner] * 14,
    *[Storm.sweep] * 2,
    *[Storm.wait] * 3,
    *[Storm.go_on] * 2,
    Storm.rotate,
    Storm.verify,
)


async def rage(issuer: Issuer, seed: int, *, steps: int = STEPS) -> tuple[World, list[str]]:
    """One storm from its beginning to its rest: the world then, and what was wrong."""
    storm = await Storm.begin(issuer, seed)
    try:
        for _ in range(steps):
            await storm.step()
        return storm.world, await storm.end()
    finally:
        storm.world.close()
