"""How runs come to be: pushes, people, and what the index learns of it."""

from tests.corpus.senders import Sender
from tests.simulation.callers import Play, tried
from tests.simulation.custody import secret_of
from tests.simulation.flows.flow import flow
from tests.simulation.flows.scenes import a_full_queue, a_project
from tests.simulation.hosts import FORGED_SHA, Told
from tests.simulation.runner import Phase


@flow("F1", title="a push is accepted", before=a_project, points=10)
async def pushed(play: Play) -> None:
    await play.push("d")


@flow("F1 forged", title="a forged push, then a genuine one", before=a_project, points=10)
async def forged(play: Play) -> None:
    """What is not verified writes nothing and uses up no delivery id (D1)."""
    told = Told(sender=Sender.GITHUB, delivery_id="d", sha=FORGED_SHA)
    await play.persist(lambda calls: tried(play.world, calls, play.place, told, secret=secret_of("nobody")))
    await play.push("d")


@flow("F2", title="a push at capacity, and again", before=a_full_queue, points=32)
async def full_then_room(play: Play) -> None:
    await play.push("late")
    await play.cancel(play.next_run())
    await play.push("late")


@flow("F3", title="people ask for runs", before=a_project, points=41)
async def asked_by_people(play: Play) -> None:
    run_id = await play.manual(key="nightly")
    await play.manual(key="nightly")
    await play.cancel(run_id)
    await play.manual(source=run_id)


@flow("F12", title="the index follows a run", before=a_project, points=33)
async def followed(play: Play) -> None:
    await play.push("d")
    await play.begin(play.next_run())
    await play.until(Phase.IDLE)
