"""What is there before a flow: projects, pushes that wait, a run at each of its stages."""

from datetime import timedelta

from services.kernel.errors import Unavailable
from tests.simulation.callers import Play, project_id
from tests.simulation.ports import Life, Point, Site
from tests.simulation.runner import Phase

STALE = timedelta(seconds=46)


class NoQueue:
    """The task queue is away. Implements `Disturbance`."""

    async def at(self, point: Point, life: Life) -> None:
        if point.site is Site.ENQUEUE:
            raise Unavailable


async def a_project(play: Play) -> None:
    await play.project()


async def a_project_without_a_webhook(play: Play) -> None:
    await play.persist(lambda calls: calls.create_project(play.slug, project_id(play.slug)))


async def a_full_queue(play: Play) -> None:
    await play.project()
    for number in range(3):
        await play.push(f"early-{number}")


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
