"""A push is recorded with its run, all or nothing, before it is answered."""

import asyncio
from datetime import timedelta

import pytest

from services.coordinator.records.delivery import DELIVERIES, REF_EVENTS
from services.coordinator.records.project import PROJECTS
from services.coordinator.records.run import RUNS
from services.kernel.errors import QueueFull, RepositoryMismatch, StaleVerification, Unavailable
from services.kernel.ids import DeliveryRowId, ProjectId, delivery_row_id
from services.kernel.runs import Status
from services.kernel.wire.deliveries import EventKind, Outcome, Provider
from tests.unit.coordinator.builders import PROJECT_ID, canonical, run_id
from tests.unit.coordinator.driver import Driver, project_id
from tests.unit.coordinator.instance import Instance
from tests.unit.kernel.world import MovableClock

pytestmark = pytest.mark.anyio


def row_id(delivery_id: str, provider: str = "github", project: str = PROJECT_ID) -> DeliveryRowId:
    return delivery_row_id(ProjectId(project), provider, delivery_id)


async def fill(anvil: Driver) -> None:
    """One active run, number 1, and 20 that wait, numbers 2 to 21."""
    await anvil.push(1)
    await anvil.claim(1)
    for number in range(2, 22):
        await anvil.push(number)
    await anvil.instance.settle()


async def test_a_push_becomes_a_run(anvil: Driver) -> None:
    answer = await anvil.push(1)

    assert (answer.outcome, answer.duplicate, answer.run_id) == (Outcome.ACCEPTED, False, run_id(1))
    assert (await anvil.show(1)).run.status is Status.QUEUED


async def test_an_acceptance_asks_the_store_once_before_it_answers(anvil: Driver, home: Instance) -> None:
    await anvil.push(1)
    await home.settle()
    home.store.forget()
    await anvil.push(2)

    assert home.calls_before_answer == 1


@pytest.mark.inv("Q10")
@pytest.mark.inv("D8")
async def test_project_run_delivery_and_push_are_one_commit(anvil: Driver, home: Instance) -> None:
    await anvil.push(1)

    assert home.store.committed()[0] == {"projects", "runs", "deliveries", "ref_events"}


@pytest.mark.inv("Q10")
async def test_no_runner_is_told_of_a_run_that_is_not_committed(anvil: Driver, home: Instance) -> None:
    told: list[int] = []

    async def look() -> None:
        told.append(len(home.tasks.offered))

    home.store.meanwhile = look
    await anvil.push(1)

    assert told == [0]


async def test_an_executable_run_is_handed_over_before_the_answer(anvil: Driver, home: Instance) -> None:
    await anvil.push(1)
    await anvil.push(2)

    assert home.tasks.handed_over() == [(run_id(1), 1)]


async def test_a_store_that_is_away_accepts_nothing(anvil: Driver, home: Instance) -> None:
    home.store.away = True
    with pytest.raises(Exception, match="away"):
        await anvil.push(1)
    home.store.away = False

    assert not await home.is_stored(DELIVERIES, row_id("d-1"))
    assert (await anvil.queue()).used == 0


async def test_twenty_one_runs_may_be_open(anvil: Driver) -> None:
    await fill(anvil)
    queue = await anvil.queue()

    assert queue.active_run is not None
    assert (queue.used, queue.capacity) == (20, 20)
    assert [waiting.run_id for waiting in queue.queued] == [run_id(number) for number in range(2, 22)]


@pytest.mark.req("R45")
@pytest.mark.inv("Q16")
async def test_a_manual_run_at_the_cap_is_refused_and_nothing_created(anvil: Driver, home: Instance) -> None:
    await fill(anvil)
    home.store.forget()
    with pytest.raises(QueueFull):
        await anvil.ask_for_run(22)
    await home.settle()

    assert home.store.commits == []
    assert not await home.is_stored(RUNS, run_id(22))


@pytest.mark.req("R50")
async def test_a_push_at_the_cap_is_accepted_under_its_row_once_there_is_room(anvil: Driver, home: Instance) -> None:
    await fill(anvil)
    full = [await anvil.push(22, "d-22"), await anvil.push(23, "d-22")]
    await anvil.cancel(2)
    accepted = await anvil.push(24, "d-22")

    assert [(each.outcome, each.duplicate, each.run_id) for each in (*full, accepted)] == [
        (Outcome.QUEUE_FULL, False, None),
        (Outcome.QUEUE_FULL, False, None),
        (Outcome.ACCEPTED, False, run_id(24)),
    ]
    assert (await home.stored(DELIVERIES, row_id("d-22"))).run_id == run_id(24)
    assert [await home.is_stored(RUNS, run_id(number)) for number in (22, 23, 24)] == [False, False, True]


async def test_a_push_at_the_cap_that_would_now_be_ignored_is_not_asked_for_again(anvil: Driver) -> None:
    await fill(anvil)
    await anvil.push(22, "d-22")
    await anvil.patch_project(default_branch="trunk")
    answer = await anvil.push(23, "d-22")

    assert (answer.outcome, answer.duplicate, answer.run_id) == (Outcome.QUEUE_FULL, True, None)


@pytest.mark.req("R60")
@pytest.mark.inv("D2")
@pytest.mark.parametrize(
    ("changes", "outcome"),
    [
        ({}, Outcome.ACCEPTED),
        ({"event_kind": EventKind.PING}, Outcome.IGNORED_PING),
        ({"event_kind": EventKind.TAG}, Outcome.IGNORED_EVENT),
        ({"branch": "feature"}, Outcome.IGNORED_BRANCH),
    ],
)
async def test_every_verified_delivery_is_recorded(
    anvil: Driver, home: Instance, changes: dict[str, object], outcome: Outcome
) -> None:
    await anvil.deliver(canonical("d-1").model_copy(update=changes), 1)

    assert (await home.stored(DELIVERIES, row_id("d-1"))).outcome is outcome


async def test_an_ignored_delivery_does_not_touch_the_project(anvil: Driver, home: Instance) -> None:
    await anvil.deliver(canonical("d-1").model_copy(update={"branch": "feature"}), 1)

    assert home.store.committed() == [{"deliveries"}]


@pytest.mark.inv("D1")
async def test_a_delivery_that_another_version_verified_leaves_no_trace(anvil: Driver, home: Instance) -> None:
    with pytest.raises(StaleVerification):
        await anvil.push(1, version="v0")
    await home.settle()

    assert home.store.commits == []
    assert (await anvil.push(1)).duplicate is False


async def test_a_delivery_about_another_repository_leaves_no_trace(anvil: Driver, home: Instance) -> None:
    other = canonical("d-1").model_copy(update={"repository_urls": ("https://github.com/acme/other",)})
    with pytest.raises(RepositoryMismatch):
        await anvil.deliver(other, 1)
    await home.settle()

    assert home.store.commits == []


@pytest.mark.req("R64")
async def test_the_same_id_under_another_project_or_provider_is_another_delivery(anvil: Driver, home: Instance) -> None:
    await anvil.create_webhook(provider="gitlab")
    await anvil.create_project("other", 2)
    await anvil.create_webhook("other")
    answers = [
        await anvil.push(1, "d"),
        await anvil.deliver(canonical("d", provider=Provider.GITLAB), 2),
        await anvil.push(3, "d", slug="other"),
    ]

    assert [(answer.duplicate, answer.run_id) for answer in answers] == [
        (False, run_id(1)),
        (False, run_id(2)),
        (False, run_id(3)),
    ]
    assert await home.is_stored(DELIVERIES, row_id("d", project=project_id(2)))


@pytest.mark.req("R66")
async def test_a_repeat_gets_the_kept_answer_and_does_no_work(anvil: Driver, home: Instance) -> None:
    first = await anvil.push(1)
    await home.settle()
    before = await home.stored(PROJECTS, PROJECT_ID)
    home.store.forget()
    again = await anvil.push(2, "d-1")
    await home.settle()

    assert (again.outcome, again.duplicate, again.run_id) == (Outcome.ACCEPTED, True, run_id(1))
    assert again.first_seen_at == first.first_seen_at
    assert home.store.committed() == [{"deliveries"}]
    assert await home.stored(PROJECTS, PROJECT_ID) == before
    assert home.tasks.handed_over() == [(run_id(1), 1)]


async def test_a_repeat_is_counted_on_its_row(anvil: Driver, home: Instance, clock: MovableClock) -> None:
    await anvil.push(1)
    clock.move(timedelta(minutes=1))
    await anvil.push(2, "d-1")
    await home.settle()
    row = await home.stored(DELIVERIES, row_id("d-1"))

    assert (row.outcome, row.run_id, row.duplicate_count, row.last_duplicate_at) == (
        Outcome.ACCEPTED,
        run_id(1),
        1,
        clock.now(),
    )


async def test_72_hours_later_the_same_id_is_a_new_delivery(anvil: Driver, clock: MovableClock) -> None:
    await anvil.push(1)
    clock.move(timedelta(hours=72) - timedelta(milliseconds=1))
    last = await anvil.push(2, "d-1")
    clock.move(timedelta(milliseconds=1))
    new = await anvil.push(3, "d-1")

    assert (last.duplicate, last.run_id) == (True, run_id(1))
    assert (new.duplicate, new.run_id) == (False, run_id(3))


@pytest.mark.inv("D7")
async def test_identical_deliveries_at_once_are_one_run(anvil: Driver, another: Driver, home: Instance) -> None:
    answers = await asyncio.gather(
        *(driver.push(number, "d-1") for number, driver in enumerate([anvil, another] * 4, start=1))
    )
    waiting = await anvil.queue()

    assert {answer.run_id for answer in answers} == {waiting.queued[0].run_id}
    assert [answer.duplicate for answer in answers].count(False) == 1
    assert waiting.used == 1


@pytest.mark.req("C12")
@pytest.mark.inv("D12")
async def test_a_webhook_that_was_deleted_and_made_again_still_knows_its_deliveries(anvil: Driver) -> None:
    await anvil.push(1)
    await anvil.delete_webhook()
    await anvil.create_webhook(version="v2")
    answer = await anvil.push(2, "d-1", version="v2")

    assert (answer.duplicate, answer.run_id) == (True, run_id(1))


@pytest.mark.inv("D6")
async def test_an_accepted_rows_run_is_there(anvil: Driver, home: Instance) -> None:
    await anvil.push(1)
    row = await home.stored(DELIVERIES, row_id("d-1"))

    assert row.run_id is not None
    assert (await home.stored(RUNS, row.run_id)).delivery_id == row.row_id
    assert (await home.stored(REF_EVENTS, row.run_id)).run_ids == (row.run_id,)


async def test_a_task_queue_that_is_away_does_not_keep_a_push_from_being_accepted(
    anvil: Driver, home: Instance
) -> None:
    home.tasks.refusal = Unavailable()

    assert (await anvil.push(1)).outcome is Outcome.ACCEPTED


async def test_replays_that_come_at_once_are_all_counted_in_few_writes(anvil: Driver) -> None:
    await anvil.push(1)
    await anvil.instance.settle()
    before = len(anvil.instance.store.commits)
    answers = await asyncio.gather(*(anvil.push(number, delivery_id="d-1") for number in range(2, 52)))
    await anvil.instance.settle()

    assert {(answer.run_id, answer.duplicate) for answer in answers} == {(run_id(1), True)}
    assert (await anvil.instance.stored(DELIVERIES, row_id("d-1"))).duplicate_count == 50
    assert len(anvil.instance.store.commits) - before < 50
