"""How runs come to be: pushes, people, and what the index learns of it."""

from tests.simulation.callers import Play
from tests.simulation.flows.flow import flow
from tests.simulation.flows.scenes import a_full_queue, a_project
from tests.simulation.runner import Phase


@flow("F1", title="a push is accepted", before=a_project, points=7)
async def pushed(play: Play) -> None:
    await play.push("d")


@flow("F2", title="a push at capacity, and again", before=a_full_queue, points=25)
async def full_then_room(play: Play) -> None:
    await play.push("late")
    await play.cancel(play.next_run())
    await play.push("late")


@flow("F3", title="people ask for runs", before=a_project, points=29)
async def asked_by_people(play: Play) -> None:
    run_id = await play.manual(key="nightly")
    await play.manual(key="nightly")
    await play.cancel(run_id)
    await play.manual(source=run_id)


@flow("F12", title="the index follows a run", before=a_project, points=30)
async def followed(play: Play) -> None:
    await play.push("d")
    await play.begin(play.next_run())
    await play.until(Phase.IDLE)
