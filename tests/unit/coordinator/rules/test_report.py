"""How an attempt ends its run: report, then complete."""

from dataclasses import replace
from datetime import timedelta

import pytest

from services.coordinator.records.run import Heartbeat, IndexSync, Result, Step, Timers
from services.coordinator.rules import attempt, queue
from services.coordinator.rules.attempt import NotReported
from services.coordinator.rules.scene import Scene
from services.kernel.errors import OwnershipLost
from services.kernel.runs import IllegalMove, Reason, Status
from tests.unit.coordinator.builders import (
    EARLIER,
    FAILED,
    FOREIGN,
    MINE,
    NOW,
    NUMBERS,
    PASSED,
    active,
    active_scene,
    entry,
    project,
    reported,
    run,
    run_id,
    seconds,
)

STEPS = (Step(name="test", status="passed", exit_code=0),)
CANCELED = Result(status=Status.CANCELED, reason=None, detail=None, exit_code=None)


def report(scene: Scene, result: Result = PASSED, steps: tuple[Step, ...] = ()) -> Scene:
    return attempt.report(scene, attempt_hash=MINE, result=result, steps=steps)


def complete(scene: Scene, *, teardown_complete: bool = True, attempt_hash: str = MINE) -> Scene:
    return attempt.complete(
        scene, attempt_hash=attempt_hash, teardown_complete=teardown_complete, now=NOW, numbers=NUMBERS
    )


@pytest.mark.req("R25")
def test_a_reported_result_does_not_end_the_run_yet() -> None:
    scene = report(active_scene(), PASSED, STEPS)

    assert scene == replace(active_scene(), run=replace(run(1, Status.RUNNING), result=PASSED, steps=STEPS))


def test_the_first_report_stands() -> None:
    first = report(active_scene(), FAILED)

    assert report(first, PASSED) == first


@pytest.mark.parametrize("result", [PASSED, CANCELED])
def test_a_run_that_has_not_started_can_neither_pass_nor_cancel_itself(result: Result) -> None:
    with pytest.raises(IllegalMove):
        report(active_scene(Status.STARTING), result)


@pytest.mark.parametrize("status", [Status.CANCEL_REQUESTED, Status.CANCELING])
@pytest.mark.parametrize("result", [PASSED, FAILED, CANCELED])
def test_whatever_came_of_a_run_that_is_to_end_may_be_reported(status: Status, result: Result) -> None:
    assert report(active_scene(status), result).run.result == result


def test_a_run_cannot_complete_before_it_is_reported() -> None:
    with pytest.raises(NotReported):
        complete(active_scene())


@pytest.mark.parametrize("result", [PASSED, FAILED])
def test_a_completed_run_ends_with_its_reported_result(result: Result) -> None:
    ended = complete(reported(active_scene(), result)).run

    assert (ended.status, ended.reason, ended.detail, ended.exit_code) == (
        result.status,
        result.reason,
        result.detail,
        result.exit_code,
    )


@pytest.mark.inv("S4")
def test_an_ended_run_has_its_end_and_keeps_its_beginning() -> None:
    ended = complete(reported(active_scene())).run

    assert (ended.queued_at, ended.started_at, ended.finished_at) == (EARLIER, EARLIER, NOW)
    assert ended.expires_at == NOW + timedelta(days=30)


def test_nothing_is_due_of_an_ended_run_but_its_terminal_row() -> None:
    ended = complete(reported(active_scene())).run

    assert ended.timers == Timers(index=NOW)
    assert ended.index_sync is IndexSync.NEEDS_TERMINAL_UPDATE


@pytest.mark.req("R24")
@pytest.mark.inv("Q7")
def test_once_the_sandbox_is_gone_the_next_run_is_promoted_and_dispatched() -> None:
    scene = complete(reported(active_scene()))

    assert scene.project.active is None
    assert queue.executable(scene.project) == run_id(2)
    assert scene.successor == replace(run(2), timers=Timers(dispatch=NOW, index=EARLIER))
    assert scene.heartbeat is None


@pytest.mark.req("R38")
@pytest.mark.inv("Y8")
def test_a_run_that_ends_before_its_first_row_owes_the_terminal_one() -> None:
    scene = reported(active_scene())
    unseen = replace(scene, run=replace(scene.run, index_sync=IndexSync.NEEDS_CREATE))

    assert complete(unseen).run.index_sync is IndexSync.NEEDS_TERMINAL_UPDATE


@pytest.mark.req("C27")
@pytest.mark.parametrize("status", [Status.CANCEL_REQUESTED, Status.CANCELING])
@pytest.mark.parametrize("result", [PASSED, FAILED])
def test_a_cancel_before_the_end_wins_over_the_result(status: Status, result: Result) -> None:
    ended = complete(reported(active_scene(status), result)).run

    assert (ended.status, ended.reason) == (Status.CANCELED, None)


@pytest.mark.req("C9")
def test_without_teardown_the_run_ends_but_its_lock_is_held_and_nobody_is_promoted() -> None:
    scene = complete(reported(active_scene()), teardown_complete=False)

    assert (scene.run.status, scene.run.exit_code) == (Status.PASSED, 0)
    assert scene.project == project(entry(2), active=replace(active(), lock_held=True))
    assert scene.successor == run(2)


def test_without_teardown_the_watchdog_stays_set() -> None:
    assert complete(reported(active_scene()), teardown_complete=False).run.timers == Timers(
        watchdog=EARLIER + seconds(45), index=NOW
    )


def test_without_teardown_nobody_renews_the_lease_any_more() -> None:
    scene = complete(reported(active_scene(seen=EARLIER)), teardown_complete=False)

    assert scene.heartbeat == Heartbeat(attempt_hash="", at=EARLIER)


@pytest.mark.parametrize("status", [Status.CANCEL_REQUESTED, Status.CANCELING])
def test_a_canceled_run_without_teardown_has_failed(status: Status) -> None:
    ended = complete(reported(active_scene(status)), teardown_complete=False).run

    assert (ended.status, ended.reason) == (Status.FAILED, Reason.TEARDOWN_FAILED)


@pytest.mark.parametrize("teardown_complete", [True, False])
def test_the_attempt_that_ended_its_run_may_say_so_again(teardown_complete: bool) -> None:
    ended = complete(reported(active_scene()), teardown_complete=teardown_complete)

    assert complete(ended, teardown_complete=teardown_complete) == ended
    assert report(ended, FAILED) == ended


def test_another_attempt_may_not_say_that_it_ended_the_run() -> None:
    with pytest.raises(OwnershipLost):
        complete(complete(reported(active_scene())), attempt_hash=FOREIGN)
