"""The flows that the coordinator takes part in: what is there before, and what is then done."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import timedelta

from services.kernel.errors import Unavailable
from services.kernel.runs import Status
from tests.simulation.callers import Play, project_id
from tests.simulation.ports import Life, Point, Site
from tests.simulation.runner import Phase

Act = Callable[[Play], Awaitable[object]]

STALE = timedelta(seconds=46)


@dataclass(frozen=True, slots=True, kw_only=True)
class Flow:
    """`points`: how many calls of ports the undisturbed flow makes; fewer is a change to be looked at."""

    title: str
    before: Act
    act: Act
    points: int


class NoQueue:
    """The task queue is away. Implements `Disturbance`."""

    async def at(self, point: Point, life: Life) -> None:
        if point.site is Site.ENQUEUE:
            raise Unavailable


async def a_project(play: Play) -> None:
    await play.project()


async def a_full_queue(play: Play) -> None:
    await play.project()
    for number in range(3):
        await play.push(f"early-{number}")


async def full_then_room(play: Play) -> None:
    await play.push("late")
    await play.cancel(play.next_run())
    await play.push("late")


async def asked_by_people(play: Play) -> None:
    run_id = await play.manual(key="nightly")
    await play.manual(key="nightly")
    await play.cancel(run_id)
    await play.manual(source=run_id)


async def an_executable_run_without_a_task(play: Play) -> None:
    await play.project()
    calm, play.world.weather.now = play.world.weather.now, NoQueue()
    await play.push("early")
    play.world.weather.now = calm


async def two_that_wait(play: Play) -> None:
    await play.project()
    await play.push("first")
    await play.push("second")
    await play.manual()


async def a_manual_run(play: Play) -> None:
    await play.project()
    await play.manual()


async def one_that_runs(play: Play) -> None:
    await two_that_wait(play)
    await play.begin(play.next_run())


async def one_that_reported(play: Play) -> None:
    await one_that_runs(play)
    await play.until(Phase.REPORTING)
    await play.until(Phase.COMPLETING)


async def canceled_while_it_runs(play: Play) -> None:
    await play.cancel(play.runner.run_id)
    await play.beat()
    await play.until(Phase.IDLE)


async def canceled_while_it_starts(play: Play) -> None:
    play.runner.take(play.next_run())
    await play.until(Phase.STARTING)
    await play.cancel(play.runner.run_id)
    await play.until(Phase.IDLE)


async def lost(play: Play) -> None:
    """Taken over; then the runner that was thought dead goes on."""
    await play.sweep(later=STALE)
    await play.until(Phase.IDLE)


async def held(play: Play) -> None:
    """Its sandbox could not be torn down: the lock is held until it is stale."""
    play.runner.torn_down = False
    await play.until(Phase.IDLE)
    await play.sweep(later=STALE)


async def webhook(play: Play) -> None:
    await play.persist(lambda calls: calls.create_webhook(play.slug, "v1"))
    await play.push("one", version="v1")
    play.world.testimony.rotations["v2"] = "v1"
    await play.persist(lambda calls: calls.rotate(play.slug, "v2", if_version="v1"))
    await play.push("stale", version="v1")
    await play.push("two", version="v2")
    await play.persist(lambda calls: calls.switch_webhook(play.slug, "v3", enabled=False))
    await play.persist(lambda calls: calls.delete_webhook(play.slug))


async def failing(play: Play) -> None:
    play.runner.ending = Status.FAILED
    await play.until(Phase.IDLE)


async def without_a_webhook(play: Play) -> None:
    await play.persist(lambda calls: calls.create_project(play.slug, project_id(play.slug)))


FLOWS: dict[str, Flow] = {
    "F1": Flow(title="a push is accepted", before=a_project, act=lambda play: play.push("d"), points=7),
    "F2": Flow(title="a push at capacity, and again", before=a_full_queue, act=full_then_room, points=25),
    "F3": Flow(title="people ask for runs", before=a_project, act=asked_by_people, points=29),
    "F4": Flow(
        title="an executable run is handed over",
        before=an_executable_run_without_a_task,
        act=lambda play: play.sweep(later=timedelta(seconds=6)),
        points=5,
    ),
    "F5": Flow(title="a claim", before=two_that_wait, act=lambda play: _claimed(play), points=7),
    "F6": Flow(title="a heartbeat", before=one_that_runs, act=lambda play: play.beat(), points=2),
    "F7": Flow(
        title="a commit is filled in", before=a_manual_run, act=lambda play: play.begin(play.next_run()), points=12
    ),
    "F8": Flow(title="log, report and end", before=one_that_runs, act=failing, points=15),
    "F9": Flow(title="the next is promoted", before=one_that_reported, act=lambda play: _next(play), points=21),
    "F10 queued": Flow(
        title="cancel of a queued run", before=two_that_wait, act=lambda play: play.cancel(play.next_run()), points=13
    ),
    "F10 starting": Flow(
        title="cancel of a starting run", before=two_that_wait, act=canceled_while_it_starts, points=32
    ),
    "F10 running": Flow(title="cancel of a running run", before=one_that_runs, act=canceled_while_it_runs, points=26),
    "F11": Flow(title="a takeover, and a late runner", before=one_that_runs, act=lost, points=12),
    "F11 reported": Flow(title="a takeover after a report", before=one_that_reported, act=lost, points=14),
    "F11 held": Flow(title="a lock that is held", before=one_that_reported, act=held, points=14),
    "F12": Flow(title="the index follows a run", before=a_project, act=lambda play: _whole(play), points=30),
    "F17": Flow(title="a webhook's life", before=without_a_webhook, act=webhook, points=20),
}


async def _claimed(play: Play) -> None:
    play.runner.take(play.next_run())
    await play.until(Phase.STARTING)


async def _next(play: Play) -> None:
    await play.until(Phase.IDLE)
    await play.begin(play.next_run())


async def _whole(play: Play) -> None:
    await play.push("d")
    await play.begin(play.next_run())
    await play.until(Phase.IDLE)
