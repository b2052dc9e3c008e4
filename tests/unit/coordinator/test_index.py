"""The run index follows the runs, whoever is late, and is right in the end."""

import pytest

from services.coordinator.records.row import RUN_INDEX
from services.coordinator.records.run import RUNS, IndexSync
from services.coordinator.rules import index
from services.coordinator.rules.numbers import Numbers
from services.kernel.ports import Create, Ref
from services.kernel.runs import Status
from tests.unit.coordinator.builders import run_id, seconds
from tests.unit.coordinator.driver import Driver
from tests.unit.coordinator.instance import Instance
from tests.unit.kernel.world import MovableClock

pytestmark = pytest.mark.anyio


async def test_a_run_is_listed_once_its_acceptance_has_settled(anvil: Driver, home: Instance) -> None:
    await anvil.push(1)
    await home.settle()

    assert [(each.run_id, each.status) for each in await anvil.listed()] == [(run_id(1), Status.QUEUED)]


@pytest.mark.req("R29")
async def test_the_row_says_what_the_run_is_after_every_step(anvil: Driver, home: Instance) -> None:
    await anvil.push(1)
    await home.settle()
    seen = [await home.stored(RUN_INDEX, run_id(1))]
    for step in (anvil.claim, anvil.start, anvil.cancel, anvil.beat, anvil.report, anvil.complete):
        await step(1)
        seen.append(await home.stored(RUN_INDEX, run_id(1)))
        assert seen[-1] == index.truth(await home.stored(RUNS, run_id(1)), keep=Numbers().keep_index)

    assert [row.status.value for row in seen] == [
        "queued",
        "starting",
        "running",
        "cancel_requested",
        "canceling",
        "canceling",
        "canceled",
    ]


@pytest.mark.req("R36")
@pytest.mark.inv("Y3")
async def test_an_ended_run_is_done_when_its_terminal_row_is_written(anvil: Driver, home: Instance) -> None:
    await anvil.push(1)
    await anvil.begin(1)
    await anvil.finish(1, Status.FAILED)
    run, row = await home.stored(RUNS, run_id(1)), await home.stored(RUN_INDEX, run_id(1))

    assert run.index_sync is IndexSync.DONE
    assert run.timers.earliest is None
    assert (row.status, row.exit_code, row.finished_at) == (Status.FAILED, 2, run.finished_at)


async def test_a_run_that_ends_before_its_first_row_is_listed_as_ended(anvil: Driver, home: Instance) -> None:
    await anvil.push(1)
    await anvil.push(2)
    await anvil.cancel(2)
    await home.settle()

    assert (await home.stored(RUN_INDEX, run_id(2))).status is Status.CANCELED
    assert (await home.stored(RUNS, run_id(2))).index_sync is IndexSync.DONE


@pytest.mark.inv("Y4")
async def test_a_run_that_changes_while_its_row_is_written_is_written_again(
    anvil: Driver, another: Driver, home: Instance
) -> None:
    await anvil.push(1)
    await home.settle()

    async def before_the_sync() -> None:
        home.store.meanwhile = lambda: another.cancel(1)

    home.store.meanwhile = before_the_sync
    await anvil.claim(1)
    run = await home.stored(RUNS, run_id(1))

    assert run.status is Status.CANCEL_REQUESTED
    assert run.index_sync is IndexSync.CURRENT
    assert (await home.stored(RUN_INDEX, run_id(1))).status is Status.CANCEL_REQUESTED


async def test_a_sync_that_was_lost_is_made_good_by_the_sweep(anvil: Driver, home: Instance) -> None:
    await anvil.push(1)
    await home.settle()

    async def before_the_sync() -> None:
        home.store.away = True

    async def before_the_claim() -> None:
        home.store.meanwhile = before_the_sync

    home.store.meanwhile = before_the_claim
    await anvil.claim(1)
    behind = await home.store.store.get([RUN_INDEX.ref(run_id(1))])
    home.store.away = False
    await anvil.sweep()

    assert behind[0] is not None
    assert behind[0].data["status"] == "queued"
    assert (await home.stored(RUN_INDEX, run_id(1))).status is Status.STARTING


@pytest.mark.inv("Y9")
async def test_in_the_end_every_row_is_the_truth(anvil: Driver, home: Instance) -> None:
    for number in range(1, 6):
        await anvil.push(number)
    await anvil.cancel(4)
    await anvil.begin(1)
    await anvil.finish(1)
    await anvil.begin(2)
    await home.settle()
    await anvil.sweep(later=seconds(301))
    runs = [await home.stored(RUNS, run_id(number)) for number in range(1, 6)]
    rows = [await home.stored(RUN_INDEX, run_id(number)) for number in range(1, 6)]

    assert [run.index_sync for run in runs if run.status.terminal] == [IndexSync.DONE] * 3
    assert [run.index_sync for run in runs if not run.status.terminal] == [IndexSync.CURRENT] * 2
    assert rows == [index.truth(run, keep=Numbers().keep_index) for run in runs]


async def test_a_row_that_cannot_be_written_stops_nothing_but_itself(
    anvil: Driver, home: Instance, clock: MovableClock
) -> None:
    await home.store.store.commit([Create(Ref("run_index", run_id(1)), {"schema": 99, "nonce": "n"})])
    await anvil.push(1)
    await home.settle()
    began = clock.now()
    tries = [(await home.stored(RUNS, run_id(1))).timers.index]
    for wait in (5, 15, 30):
        await anvil.sweep(later=seconds(wait))
        tries.append((await home.stored(RUNS, run_id(1))).timers.index)
    await anvil.begin(1)

    assert tries == [began + seconds(after) for after in (5, 20, 50, 110)]
    assert (await anvil.show(1)).run.status is Status.RUNNING
