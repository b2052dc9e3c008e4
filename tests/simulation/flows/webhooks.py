"""The life of a webhook, as people and its Git host lead it."""

from tests.simulation.callers import Play
from tests.simulation.custody import secret_of
from tests.simulation.flows.flow import flow
from tests.simulation.flows.scenes import a_project, a_project_without_a_webhook


@flow("F17 create", title="a webhook is made and used", before=a_project_without_a_webhook, points=19)
async def made(play: Play) -> None:
    """Its secret is shown once: whoever misses that answer rotates."""
    await play.persist(lambda _: play.person().put(play.place, enabled=True))
    if play.place not in play.world.told:
        await play.rotate()
    await play.push("one")


@flow("F17 rotate", title="a secret is rotated", before=a_project, points=34)
async def rotated(play: Play) -> None:
    await play.push("before")
    await play.rotate()
    await play.push("stale", version="v1")
    await play.push("after")


@flow("F17 delete", title="disabled, deleted, made again", before=a_project, points=41)
async def ended(play: Play) -> None:
    await play.push("one")
    await play.persist(lambda _: play.person().put(play.place, enabled=False))
    await play.push("two")
    await play.persist(lambda _: play.person().delete(play.place))
    await play.push("three")
    await play.persist(lambda _: play.person().put(play.place, enabled=True, secret=secret_of("again")))
    await play.push("one")
