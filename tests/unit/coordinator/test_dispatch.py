"""Executable runs reach a runner, whatever becomes of the tasks."""

from datetime import timedelta

import pytest

from services.coordinator.records.run import RUNS
from services.kernel.errors import Ambiguous, TaskRejected, Unavailable
from services.kernel.runs import Reason, Status, Verdict
from tests.unit.coordinator.builders import run_id, seconds
from tests.unit.coordinator.driver import Driver
from tests.unit.coordinator.instance import Instance

pytestmark = pytest.mark.anyio

MOMENT = timedelta(milliseconds=1)


async def test_a_refused_task_is_tried_again_after_5_15_30_60_and_120_seconds(anvil: Driver, home: Instance) -> None:
    home.tasks.refusal = TaskRejected()
    await anvil.push(1)
    await home.settle()
    tries = [len(home.tasks.tried())]
    for wait in (5, 15, 30, 60, 120):
        await anvil.sweep(later=seconds(wait) - MOMENT)
        tries.append(len(home.tasks.tried()))
        await anvil.sweep(later=MOMENT)
        tries.append(len(home.tasks.tried()))

    assert tries == [1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6]


async def test_a_run_that_no_task_can_hand_over_fails_and_the_next_one_gets_its_turn(
    anvil: Driver, home: Instance
) -> None:
    home.tasks.refusal = TaskRejected()
    await anvil.push(1)
    await anvil.push(2)
    await home.settle()
    for wait in (5, 15, 30, 60, 120):
        await anvil.sweep(later=seconds(wait))
    failed = (await anvil.show(1)).run

    assert (failed.status, failed.reason) == (Status.FAILED, Reason.DISPATCH_FAILED)
    assert [each.status for each in await anvil.listed()] == [Status.QUEUED, Status.FAILED]
    assert home.tasks.tried() == [(run_id(1), 1)] * 6 + [(run_id(2), 1)]


@pytest.mark.parametrize("error", [Unavailable(), Ambiguous()])
async def test_a_task_queue_that_does_not_answer_never_fails_a_run(
    anvil: Driver, home: Instance, error: Unavailable | Ambiguous
) -> None:
    home.tasks.refusal = error
    await anvil.push(1)
    await home.settle()
    for _ in range(10):
        await anvil.sweep(later=seconds(5))
    home.tasks.refusal = None
    await anvil.sweep(later=seconds(5))

    assert home.tasks.handed_over() == [(run_id(1), 1)]
    assert (await anvil.show(1)).run.status is Status.QUEUED


async def test_a_run_that_nobody_claims_in_five_minutes_is_handed_over_under_a_new_number(
    anvil: Driver, home: Instance
) -> None:
    await anvil.push(1)
    await home.settle()
    await anvil.sweep(later=seconds(300) - MOMENT)
    before = home.tasks.handed_over()
    await anvil.sweep(later=MOMENT)

    assert before == [(run_id(1), 1)]
    assert home.tasks.handed_over() == [(run_id(1), 1), (run_id(1), 2)]
    assert len({task.name for task in home.tasks.taken}) == 2


async def test_a_claimed_run_is_not_handed_over_again(anvil: Driver, home: Instance) -> None:
    await anvil.push(1)
    await anvil.claim(1)
    await home.settle()

    assert (await home.stored(RUNS, run_id(1))).timers.dispatch is None


@pytest.mark.req("R4")
async def test_a_task_that_comes_again_or_late_changes_nothing(anvil: Driver, home: Instance) -> None:
    await anvil.push(1)
    await anvil.push(2)
    await anvil.push(3)
    await anvil.cancel(3)
    await anvil.begin(1)
    await home.settle()
    home.store.forget()
    active = [(await anvil.claim(number, attempt=2)).verdict for number in (1, 2, 3, 4)]
    await anvil.look(1)
    await anvil.look(2)

    assert active == [
        Verdict.RUN_ACTIVE,
        Verdict.NOT_CURRENTLY_EXECUTABLE,
        Verdict.CANCELED,
        Verdict.RUN_MISSING,
    ]
    assert home.store.commits == []


@pytest.mark.inv("Q14")
async def test_a_task_that_comes_after_the_end_starts_nothing(anvil: Driver) -> None:
    await anvil.push(1)
    await anvil.begin(1)
    await anvil.finish(1)

    assert (await anvil.claim(1, attempt=1)).verdict is Verdict.ALREADY_TERMINAL
    assert (await anvil.claim(1, attempt=2)).verdict is Verdict.ALREADY_TERMINAL
