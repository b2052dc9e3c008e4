"""What people ask about runs: start, cancel, run again, look."""

from datetime import timedelta

import pytest

from services.coordinator.records.delivery import REF_EVENTS
from services.kernel.errors import IdempotencyKeyReused, Invalid, NotFound, NotRerunnable
from services.kernel.ids import ProjectId, keyed_run_id
from services.kernel.runs import Directive, Status, Trigger, Verdict
from services.kernel.wire import internal
from services.kernel.wire.model import PageQuery
from tests.unit.coordinator.builders import OTHER_SHA, PROJECT_ID, SHA, run_id
from tests.unit.coordinator.driver import ADA, Driver, project_id
from tests.unit.coordinator.instance import Instance
from tests.unit.kernel.world import MovableClock

pytestmark = pytest.mark.anyio


async def test_a_manual_run_is_queued_listed_and_handed_over(anvil: Driver, home: Instance) -> None:
    assert await anvil.ask_for_run(1) == run_id(1)
    (listed,) = await anvil.listed()

    assert (listed.run_id, listed.status, listed.trigger, listed.actor) == (
        run_id(1),
        Status.QUEUED,
        Trigger.MANUAL,
        ADA,
    )
    assert (listed.commit_sha, listed.position) == (None, 1)
    assert home.tasks.handed_over() == [(run_id(1), 1)]


@pytest.mark.req("R7")
@pytest.mark.req("R8")
async def test_executable_and_pending_runs_both_read_as_queued(anvil: Driver) -> None:
    await anvil.ask_for_run(1)
    await anvil.ask_for_run(2)

    assert [(await anvil.show(number)).run.status for number in (1, 2)] == [Status.QUEUED, Status.QUEUED]


@pytest.mark.req("R9")
async def test_the_queue_tells_the_order_and_who_is_behind_whom(anvil: Driver) -> None:
    for number in (1, 2, 3):
        await anvil.push(number)
    await anvil.claim(1)
    await anvil.cancel(2)
    await anvil.push(4)
    queue = await anvil.queue()

    assert queue.active_run is not None
    assert queue.active_run.run_id == run_id(1)
    assert [(each.run_id, each.place, each.behind) for each in queue.queued] == [
        (run_id(3), 1, run_id(1)),
        (run_id(4), 2, run_id(3)),
    ]
    assert [(await anvil.show(number)).place for number in (1, 3, 4)] == [None, 1, 2]


async def test_a_position_stays_and_is_gone_when_the_run_is_no_longer_queued(anvil: Driver, home: Instance) -> None:
    for number in (1, 2, 3):
        await anvil.push(number)
    await anvil.cancel(2)
    await anvil.claim(1)
    await home.settle()

    assert [(await anvil.show(number)).run.position for number in (1, 2, 3)] == [None, None, 3]
    assert {each.run_id: each.position for each in await anvil.listed()} == {
        run_id(1): None,
        run_id(2): None,
        run_id(3): 3,
    }


async def test_asking_again_under_the_same_run_id_is_the_same_run(anvil: Driver, another: Driver) -> None:
    assert [await anvil.ask_for_run(1), await another.ask_for_run(1)] == [run_id(1), run_id(1)]
    assert (await anvil.queue()).used == 1


async def test_one_idempotency_key_is_one_run_of_its_project(anvil: Driver) -> None:
    await anvil.create_project("other", 2)
    first = await anvil.ask_for_run(1, key="nightly")
    again = await anvil.ask_for_run(2, key="nightly")
    elsewhere = await anvil.ask_for_run(3, "other", key="nightly")

    assert first == again == keyed_run_id(PROJECT_ID, "nightly")
    assert elsewhere == keyed_run_id(ProjectId(project_id(2)), "nightly")
    assert (await anvil.queue()).used == 1


async def test_one_idempotency_key_is_not_two_requests(anvil: Driver) -> None:
    await anvil.ask_for_run(1, key="nightly")

    with pytest.raises(IdempotencyKeyReused):
        await anvil.ask_for_run(2, key="nightly", branch="feature")
    assert (await anvil.queue()).used == 1


async def test_a_queued_run_is_canceled_at_once_and_never_executes(anvil: Driver, home: Instance) -> None:
    await anvil.push(1)
    await anvil.push(2)
    view = await anvil.cancel(1)

    assert (view.run.status, view.run.position) == (Status.CANCELED, None)
    assert (await anvil.claim(1)).verdict is Verdict.CANCELED
    assert home.tasks.handed_over() == [(run_id(1), 1), (run_id(2), 1)]


async def test_an_active_run_is_canceled_by_its_runner(anvil: Driver) -> None:
    await anvil.push(1)
    await anvil.begin(1)
    asked = (await anvil.cancel(1)).run.status
    told = await anvil.beat(1)
    going = (await anvil.cancel(1)).run.status
    await anvil.finish(1, Status.CANCELED)

    assert (asked, told, going) == (Status.CANCEL_REQUESTED, Directive.CANCEL, Status.CANCELING)
    assert (await anvil.show(1)).run.status is Status.CANCELED


async def test_a_run_that_is_canceled_while_it_starts_runs_no_command(anvil: Driver) -> None:
    await anvil.push(1)
    await anvil.claim(1)
    await anvil.cancel(1)

    assert await anvil.start(1) is Directive.CANCEL


async def test_the_cancel_of_a_reported_run_changes_nothing(anvil: Driver) -> None:
    await anvil.push(1)
    await anvil.begin(1)
    await anvil.report(1)

    assert (await anvil.cancel(1)).run.status is Status.RUNNING
    assert await anvil.beat(1) is Directive.CONTINUE


async def test_a_finished_run_is_returned_unchanged(anvil: Driver, home: Instance) -> None:
    await anvil.push(1)
    await anvil.begin(1)
    await anvil.finish(1)
    await home.settle()
    before = await anvil.show(1)
    home.store.forget()

    assert await anvil.cancel(1) == before
    assert home.store.commits == []


async def test_a_rerun_of_a_push_is_of_its_commit_and_takes_its_place(anvil: Driver, home: Instance) -> None:
    await anvil.push(1)
    await anvil.begin(1)
    await anvil.finish(1, Status.FAILED)
    await anvil.ask_for_run(2, source=1)
    job = (await anvil.claim(2)).job

    assert job is not None
    assert job.commit_sha == SHA
    assert (await home.stored(REF_EVENTS, run_id(1))).run_ids == (run_id(2),)


async def test_a_rerun_of_a_rerun_still_takes_its_place_in_the_push(anvil: Driver, home: Instance) -> None:
    await anvil.push(1)
    for number in (1, 2):
        await anvil.begin(number)
        await anvil.finish(number, Status.FAILED)
        await anvil.ask_for_run(number + 1, source=number)

    assert (await home.stored(REF_EVENTS, run_id(1))).run_ids == (run_id(3),)


async def test_a_rerun_of_a_manual_run_is_of_the_branch_head(anvil: Driver) -> None:
    await anvil.ask_for_run(1)
    await anvil.claim(1)
    await anvil.start(1, sha=OTHER_SHA)
    await anvil.finish(1, Status.FAILED)
    await anvil.ask_for_run(2, source=1)
    job = (await anvil.claim(2)).job

    assert job is not None
    assert job.commit_sha is None


async def test_an_open_or_unknown_run_or_another_projects_is_not_run_again(anvil: Driver) -> None:
    await anvil.create_project("other", 2)
    await anvil.push(1)

    with pytest.raises(NotRerunnable):
        await anvil.ask_for_run(2, source=1)
    await anvil.cancel(1)
    with pytest.raises(NotFound):
        await anvil.ask_for_run(2, "other", source=1)
    with pytest.raises(NotFound):
        await anvil.ask_for_run(2, source=7)


async def test_runs_are_listed_newest_first_in_pages(anvil: Driver, clock: MovableClock) -> None:
    for number in range(1, 6):
        await anvil.ask_for_run(number)
        clock.move(timedelta(seconds=1))
    seen: list[list[str]] = []
    token: str | None = None
    while token is not None or not seen:
        asked = PageQuery(page_size=2, page_token=token)
        page = await anvil.console.call(internal.LIST_RUNS, path={"project": "site"}, body=asked)
        seen.append([each.run_id for each in page.items])
        token = page.next_page_token

    assert seen == [[run_id(5), run_id(4)], [run_id(3), run_id(2)], [run_id(1)]]


@pytest.mark.parametrize("token", ["x", "bm9uc2Vuc2U=", "WyJub3QgYSB0aW1lIiwgIngiXQ==", "WzEsIDJd", "W10="])
async def test_a_made_up_page_token_is_refused(anvil: Driver, token: str) -> None:
    with pytest.raises(Invalid):
        await anvil.console.call(internal.LIST_RUNS, path={"project": "site"}, body=PageQuery(page_token=token))


async def test_a_run_is_kept_for_30_days_after_its_end(anvil: Driver, clock: MovableClock) -> None:
    await anvil.push(1)
    await anvil.cancel(1)
    clock.move(timedelta(days=30) - timedelta(seconds=1))
    await anvil.show(1)
    clock.move(timedelta(seconds=1))

    with pytest.raises(NotFound):
        await anvil.show(1)


@pytest.mark.parametrize("asked", ["show", "cancel"])
async def test_a_run_that_is_not_there_is_not_found(anvil: Driver, asked: str) -> None:
    ask = {"show": anvil.show, "cancel": anvil.cancel}[asked]
    with pytest.raises(NotFound):
        await ask(1)
