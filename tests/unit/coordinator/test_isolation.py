"""What is done for one project is nothing to another."""

import pytest

from services.kernel.ids import ProjectId, delivery_row_id
from tests.unit.coordinator.builders import run_id
from tests.unit.coordinator.driver import Driver, chunk, project_id
from tests.unit.coordinator.instance import Instance

pytestmark = pytest.mark.anyio


@pytest.mark.inv("Q17")
async def test_no_document_of_another_project_is_read_or_written(anvil: Driver, home: Instance) -> None:
    await anvil.create_project("other", 2)
    await anvil.create_webhook("other")
    for number in (11, 12):
        await anvil.push(number, slug="other")
    await anvil.begin(11)
    await home.settle()
    home.store.forget()
    await _live(anvil)

    foreign = {
        "other",
        project_id(2),
        *(run_id(number) for number in (11, 12)),
        *(delivery_row_id(ProjectId(project_id(2)), "github", f"d-{number}") for number in (11, 12)),
    }
    read = {ref.id for refs in home.store.reads for ref in refs}
    written = {write.ref.id for writes in home.store.commits for write in writes}
    asked = {str(where.value) for query in home.store.queries for where in query.where}
    logs = {query.collection for query in home.store.queries}
    assert foreign.isdisjoint(read | written | asked)
    assert not any(run_id(11) in collection for collection in logs)
    assert len(written) > 5


async def test_a_full_queue_is_full_for_its_own_project_alone(anvil: Driver) -> None:
    await anvil.create_project("other", 2)
    await anvil.create_webhook("other")
    for number in range(1, 22):
        await anvil.push(number)

    assert [(await anvil.push(22)).run_id, (await anvil.push(23, slug="other")).run_id] == [None, run_id(23)]


async def _live(anvil: Driver) -> None:
    """Everything that can be asked about `site` and its runs 1 to 4."""
    for number in (1, 2, 3):
        await anvil.push(number)
    await anvil.push(9, "d-1")
    await anvil.begin(1)
    await anvil.append(1, chunk(0, "hello\n", offset=0))
    await anvil.beat(1)
    await anvil.cancel(1)
    await anvil.cancel(3)
    await anvil.beat(1)
    await anvil.finish(1)
    await anvil.ask_for_run(4, source=1)
    await anvil.rotate("v2")
    await anvil.verification()
    await anvil.look(2)
    await anvil.show(2)
    await anvil.queue()
    await anvil.listed()
    await anvil.instance.settle()
