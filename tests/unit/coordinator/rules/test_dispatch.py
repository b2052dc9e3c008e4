"""Handing an executable run to a runner."""

from dataclasses import replace

import pytest

from services.coordinator.records.run import Timers
from services.coordinator.rules import dispatch
from services.kernel.ports import Target
from tests.unit.coordinator.builders import NOW, NUMBERS, run, run_id, seconds


def test_the_task_names_the_run_and_the_dispatch() -> None:
    task = dispatch.hand_over(replace(run(), dispatch=3), trace="00-a-b-01")

    assert (task.target, task.path, task.body) == (Target.RUNNER, "/tasks/run", {"run": run_id(1), "dispatch": 3})
    assert (task.not_before, task.trace) == (None, "00-a-b-01")


def test_every_dispatch_has_a_name_of_its_own() -> None:
    tasks = [
        dispatch.hand_over(replace(run(number), dispatch=tried), trace=None) for number in (1, 2) for tried in (1, 2)
    ]

    assert len({task.name for task in tasks}) == 4
    assert dispatch.hand_over(run(), trace="00-a-b-01").name == tasks[0].name


def test_a_look_is_a_task_for_the_coordinator_at_a_moment() -> None:
    task = dispatch.look_again(run_id(1), at=NOW, trace=None)

    assert (task.target, task.path, task.body) == (Target.COORDINATOR, "/tasks/reconcile", {"run": run_id(1)})
    assert task.not_before == NOW
    assert dispatch.look_again(run_id(1), at=NOW + seconds(1), trace=None).name != task.name


def test_a_run_that_nobody_claims_in_five_minutes_is_handed_over_under_the_next_number() -> None:
    taken = dispatch.taken(replace(run(), dispatch=4, rejections=3), now=NOW, numbers=NUMBERS)

    assert (taken.dispatch, taken.rejections, taken.timers.dispatch) == (5, 0, NOW + seconds(300))


def test_without_an_answer_the_same_task_is_sent_again_soon_and_not_counted() -> None:
    waiting = dispatch.unanswered(replace(run(), dispatch=4, rejections=3), now=NOW, numbers=NUMBERS)

    assert (waiting.dispatch, waiting.rejections, waiting.timers.dispatch) == (4, 3, NOW + seconds(5))


@pytest.mark.parametrize(("rejections", "wait"), [(0, 5), (1, 15), (2, 30), (3, 60), (4, 120)])
def test_a_refused_task_is_tried_again_later_each_time(rejections: int, wait: int) -> None:
    refused = replace(run(), rejections=rejections, timers=Timers(index=NOW))
    later = dispatch.rejected(refused, now=NOW, numbers=NUMBERS)

    assert later is not None
    assert (later.rejections, later.timers) == (rejections + 1, Timers(dispatch=NOW + seconds(wait), index=NOW))


def test_after_the_last_of_five_tries_a_run_is_given_up() -> None:
    assert dispatch.rejected(replace(run(), rejections=5), now=NOW, numbers=NUMBERS) is None
