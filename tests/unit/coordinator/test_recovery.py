"""A runner that is gone loses its run; nothing that was accepted is lost."""

from dataclasses import replace
from datetime import timedelta

import pytest

from services.coordinator.records.run import HEARTBEATS, RUNS, IndexSync
from services.coordinator.rules import index
from services.kernel.errors import OwnershipLost, Unavailable
from services.kernel.ports import Create, Ref, Target
from services.kernel.runs import Directive, Reason, Status, Verdict
from tests.unit.coordinator.builders import EARLIER, run, run_id, seconds
from tests.unit.coordinator.driver import Driver
from tests.unit.coordinator.instance import Instance, Place
from tests.unit.kernel.world import MovableClock

pytestmark = pytest.mark.anyio

STALE = seconds(45.001)


async def active_and_waiting(anvil: Driver) -> None:
    """Run 1 is active and was just heard of; run 2 waits."""
    await anvil.push(1)
    await anvil.push(2)
    await anvil.begin(1)
    await anvil.instance.settle()


async def test_a_runner_that_is_not_heard_of_for_45_seconds_is_lost(anvil: Driver, home: Instance) -> None:
    await active_and_waiting(anvil)
    await anvil.sweep(later=seconds(45))
    fresh = (await anvil.show(1)).run.status
    await anvil.sweep(later=timedelta(milliseconds=1))
    lost = (await anvil.show(1)).run

    assert fresh is Status.RUNNING
    assert (lost.status, lost.reason) == (Status.FAILED, Reason.RUNNER_LOST)
    assert [each.status for each in await anvil.listed()] == [Status.QUEUED, Status.FAILED]
    assert home.tasks.handed_over() == [(run_id(1), 1), (run_id(2), 1)]
    assert not await home.is_stored(HEARTBEATS, run_id(1))


async def test_a_claim_has_itself_looked_at_when_it_would_be_lost(
    anvil: Driver, home: Instance, clock: MovableClock
) -> None:
    await active_and_waiting(anvil)
    looks = [task for task in home.tasks.taken if task.target is Target.COORDINATOR]

    assert [(task.body, task.not_before) for task in looks] == [({"run": run_id(1)}, clock.now() + seconds(45))]


async def test_as_long_as_heartbeats_come_a_run_is_not_lost(anvil: Driver) -> None:
    await active_and_waiting(anvil)
    for _ in range(12):
        await anvil.sweep(later=seconds(10))
        assert await anvil.beat(1) is Directive.CONTINUE

    assert (await anvil.show(1)).run.status is Status.RUNNING


async def test_after_a_takeover_the_lost_runner_changes_nothing(anvil: Driver, home: Instance) -> None:
    await active_and_waiting(anvil)
    await anvil.sweep(later=STALE)
    await home.settle()
    home.store.forget()
    for late in (anvil.beat, anvil.start, anvil.report, anvil.complete):
        with pytest.raises(OwnershipLost):
            await late(1)

    assert home.store.commits == []


async def test_a_result_that_was_reported_survives_its_runner(anvil: Driver) -> None:
    await active_and_waiting(anvil)
    await anvil.report(1)
    await anvil.sweep(later=STALE)
    recovered = (await anvil.show(1)).run

    assert (recovered.status, recovered.reason, recovered.exit_code) == (Status.PASSED, None, 0)
    assert (await anvil.claim(2)).verdict is Verdict.EXECUTE


async def test_a_heartbeat_that_comes_in_between_wins_over_the_takeover(
    anvil: Driver, another: Driver, home: Instance, clock: MovableClock
) -> None:
    await active_and_waiting(anvil)
    clock.move(STALE)
    home.store.meanwhile = lambda: another.beat(1)
    await anvil.look(1)

    assert (await anvil.show(1)).run.status is Status.RUNNING
    assert await anvil.beat(1) is Directive.CONTINUE


async def test_a_takeover_that_comes_in_between_wins_over_the_heartbeat(
    anvil: Driver, another: Driver, home: Instance, clock: MovableClock
) -> None:
    await active_and_waiting(anvil)
    clock.move(STALE)
    home.store.meanwhile = lambda: another.look(1)
    with pytest.raises(OwnershipLost):
        await anvil.beat(1)

    assert (await anvil.show(1)).run.reason is Reason.RUNNER_LOST


async def test_a_sandbox_that_may_still_be_there_holds_the_project_until_it_is_stale(
    anvil: Driver, home: Instance
) -> None:
    await active_and_waiting(anvil)
    await anvil.report(1)
    await anvil.complete(1, teardown_complete=False)
    ended, waiting = (await anvil.show(1)).run.status, (await anvil.claim(2)).verdict
    await anvil.sweep(later=STALE)

    assert (ended, waiting) == (Status.PASSED, Verdict.NOT_CURRENTLY_EXECUTABLE)
    assert (await anvil.claim(2)).verdict is Verdict.EXECUTE


@pytest.mark.inv("Q11")
@pytest.mark.inv("Q12")
async def test_every_accepted_run_ends_though_tasks_are_lost_and_a_runner_dies(anvil: Driver, home: Instance) -> None:
    home.tasks.refusal = Unavailable()
    for number in (1, 2, 3):
        await anvil.push(number)
    await home.settle()
    for _ in range(5):
        await anvil.sweep(later=seconds(60))
    home.tasks.refusal = None
    for number in (1, 2, 3):
        await anvil.sweep(later=seconds(301))  # Each task is lost once: only the one that follows arrives.
        await anvil.sweep(later=seconds(301))
        told = [
            task for task in home.tasks.taken if task.target is Target.RUNNER and task.body["run"] == run_id(number)
        ]
        assert len({task.name for task in told}) > 1
        await anvil.begin(number)
        if number == 2:
            await anvil.sweep(later=STALE)
        else:
            await anvil.finish(number)
    await anvil.sweep()
    stored = [await home.stored(RUNS, run_id(number)) for number in (1, 2, 3)]

    assert [each.status for each in stored] == [Status.PASSED, Status.FAILED, Status.PASSED]
    assert [each.index_sync for each in stored] == [IndexSync.DONE] * 3
    assert (await anvil.queue()).used == 0


async def test_a_run_that_nobody_can_read_is_put_off_and_does_not_starve_the_others(
    anvil: Driver, home: Instance, clock: MovableClock
) -> None:
    poisoned = Create(Ref("runs", "run_0"), {"schema": 99, "nonce": "n", "attention_at": clock.now()})
    await home.store.store.commit([poisoned])
    await anvil.push(1)
    await home.settle()
    first = await anvil.sweep(later=seconds(300))
    second = await anvil.sweep(later=seconds(29))
    third = await anvil.sweep(later=seconds(1))
    fourth = await anvil.sweep(later=seconds(30))

    assert [(each.looked_at, each.failed) for each in (first, second, third, fourth)] == [
        (2, 1),
        (0, 0),
        (1, 1),
        (0, 0),
    ]
    assert home.tasks.handed_over() == [(run_id(1), 1), (run_id(1), 2)]


async def test_a_sweep_looks_at_everything_that_is_due_page_by_page(
    anvil: Driver, home: Instance, place: Place
) -> None:
    owing = [index.owes(replace(run(number), index_sync=IndexSync.CURRENT), now=EARLIER) for number in range(1, 151)]
    for start in range(0, len(owing), 50):
        due = owing[start : start + 50]
        await home.store.store.commit([RUNS.create(each.run_id, each, ids=place.ids) for each in due])

    assert (await anvil.sweep()).looked_at == 150
    assert (await anvil.sweep()).looked_at == 0
    assert len(home.store.queries) == 3


async def test_looking_never_once_or_often_comes_to_the_same(anvil: Driver, home: Instance) -> None:
    await active_and_waiting(anvil)
    await anvil.sweep(later=STALE)
    before = await home.stored(RUNS, run_id(1))
    home.store.forget()
    for _ in range(3):
        await anvil.look(1)
        await anvil.look(2)
        await anvil.sweep()

    assert await home.stored(RUNS, run_id(1)) == before
    assert home.store.commits == []
