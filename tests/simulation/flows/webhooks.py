"""The life of a webhook."""

from tests.simulation.callers import Play
from tests.simulation.flows.flow import flow
from tests.simulation.flows.scenes import a_project_without_a_webhook


@flow("F17", title="a webhook's life", before=a_project_without_a_webhook, points=20)
async def lived(play: Play) -> None:
    await play.persist(lambda calls: calls.create_webhook(play.slug, "v1"))
    await play.push("one", version="v1")
    play.world.testimony.rotations["v2"] = "v1"
    await play.persist(lambda calls: calls.rotate(play.slug, "v2", if_version="v1"))
    await play.push("stale", version="v1")
    await play.push("two", version="v2")
    await play.persist(lambda calls: calls.switch_webhook(play.slug, "v3", enabled=False))
    await play.persist(lambda calls: calls.delete_webhook(play.slug))
