"""How a run ends other than by its runner: by a cancel, by a task queue that refuses it, by a takeover."""

from dataclasses import replace
from datetime import datetime

import pytest

from services.coordinator.records.run import IndexSync, Result, Step, Timers
from services.coordinator.rules import attempt, ending, queue
from services.coordinator.rules.scene import Scene
from services.kernel.errors import OwnershipLost
from services.kernel.runs import Reason, Status
from tests.unit.coordinator.builders import (
    EARLIER,
    FAILED,
    MINE,
    NOW,
    NUMBERS,
    PASSED,
    active,
    active_scene,
    entry,
    executable,
    project,
    reported,
    run,
    run_id,
    seconds,
    waiting_scene,
)

LOST = NOW + seconds(45.001)
"""Just more than 45 s after the last sign of life."""


def cancel(scene: Scene) -> Scene:
    return ending.cancel(scene, now=NOW, numbers=NUMBERS)


def watch(scene: Scene, at: datetime = LOST) -> Scene:
    return ending.watch(scene, now=at, numbers=NUMBERS)


def undelivered(scene: Scene) -> Scene:
    return ending.undeliverable(scene, now=NOW, numbers=NUMBERS)


def without_teardown(scene: Scene) -> Scene:
    """The run ended, and its sandbox is not known to be gone."""
    return attempt.complete(
        reported(scene, FAILED), attempt_hash=MINE, teardown_complete=False, now=NOW, numbers=NUMBERS
    )


class TestCancel:
    @pytest.mark.inv("Q15")
    def test_a_queued_run_ends_at_once_and_has_no_position(self) -> None:
        scene = cancel(waiting_scene())

        assert (scene.run.status, scene.run.reason, scene.run.position) == (Status.CANCELED, None, None)
        assert (scene.run.started_at, scene.run.finished_at) == (None, NOW)
        assert scene.run.timers == Timers(index=NOW)

    def test_the_next_run_takes_the_turn_of_an_executable_one(self) -> None:
        scene = cancel(waiting_scene())

        assert scene.project == project(executable(2))
        assert scene.successor == replace(run(2), timers=Timers(dispatch=NOW, index=EARLIER))

    @pytest.mark.inv("Q15")
    def test_a_pending_run_leaves_quietly(self) -> None:
        scene = cancel(Scene(project=project(entry(2), entry(3), active=active()), run=run(2), successor=run(3)))

        assert scene.project == project(entry(3), active=active())
        assert scene.successor == run(3)

    @pytest.mark.parametrize("status", [Status.STARTING, Status.RUNNING])
    def test_an_active_run_is_asked_to_end(self, status: Status) -> None:
        scene = cancel(active_scene(status))

        assert scene.run.status is Status.CANCEL_REQUESTED
        assert scene.run.index_sync is IndexSync.NEEDS_UPDATE
        assert scene.project == project(entry(2), active=replace(active(), cancel_requested=True))

    @pytest.mark.parametrize(
        "status", [Status.CANCEL_REQUESTED, Status.CANCELING, Status.PASSED, Status.FAILED, Status.CANCELED]
    )
    def test_a_run_that_is_ending_or_has_ended_stays_as_it_is(self, status: Status) -> None:
        scene = active_scene(status)

        assert cancel(scene) == scene

    @pytest.mark.parametrize("status", [Status.STARTING, Status.RUNNING])
    def test_a_run_whose_result_is_reported_stays_as_it_is(self, status: Status) -> None:
        scene = reported(active_scene(status), FAILED)

        assert cancel(scene) == scene


class TestUndeliverable:
    def test_the_run_fails_for_a_reason_and_the_next_one_gets_its_turn(self) -> None:
        scene = undelivered(waiting_scene())

        assert (scene.run.status, scene.run.reason) == (Status.FAILED, Reason.DISPATCH_FAILED)
        assert scene.run.position is None
        assert scene.project == project(executable(2))

    @pytest.mark.parametrize("status", [Status.STARTING, Status.RUNNING, Status.CANCELED])
    def test_a_run_that_waits_no_more_stays_as_it_is(self, status: Status) -> None:
        scene = active_scene(status)

        assert undelivered(scene) == scene


class TestWatch:
    @pytest.mark.req("R28")
    @pytest.mark.parametrize("after", [0, 44.999, 45])
    def test_while_the_heartbeat_is_fresh_nothing_is_promoted(self, after: float) -> None:
        before = active_scene()
        scene = watch(before, NOW + seconds(after))

        assert (scene.project, scene.successor, scene.heartbeat) == (
            before.project,
            before.successor,
            before.heartbeat,
        )
        assert scene.run == replace(before.run, timers=Timers(watchdog=NOW + seconds(45.001)))

    @pytest.mark.inv("Q8")
    @pytest.mark.parametrize("status", [Status.STARTING, Status.RUNNING, Status.CANCEL_REQUESTED, Status.CANCELING])
    def test_a_run_without_a_sign_of_life_is_lost(self, status: Status) -> None:
        scene = watch(active_scene(status))

        assert (scene.run.status, scene.run.reason, scene.run.exit_code) == (Status.FAILED, Reason.RUNNER_LOST, None)
        assert scene.run.finished_at == LOST
        assert scene.run.index_sync is IndexSync.NEEDS_TERMINAL_UPDATE

    def test_the_steps_of_a_lost_run_are_as_it_last_told_them_and_none_goes_on(self) -> None:
        before = active_scene()
        told = tuple(Step(name=name, status=name) for name in ("passed", "running", "pending"))
        assert before.heartbeat is not None
        scene = watch(replace(before, heartbeat=replace(before.heartbeat, steps=told)))

        assert [(step.name, step.status) for step in scene.run.steps] == [
            ("passed", "passed"),
            ("running", "failed"),
            ("pending", "skipped"),
        ]

    @pytest.mark.req("C8")
    def test_a_run_lost_while_canceling_has_failed(self) -> None:
        assert watch(active_scene(Status.CANCELING)).run.status is Status.FAILED

    @pytest.mark.req("R26")
    def test_after_a_takeover_the_next_run_is_promoted_and_dispatched(self) -> None:
        scene = watch(active_scene())

        assert queue.executable(scene.project) == run_id(2)
        assert scene.project.active is None
        assert scene.successor == replace(run(2), timers=Timers(dispatch=LOST, index=EARLIER))

    @pytest.mark.inv("Q9")
    @pytest.mark.parametrize("result", [PASSED, FAILED])
    def test_what_a_lost_run_had_reported_is_its_result(self, result: Result) -> None:
        scene = watch(reported(active_scene(), result))

        assert (scene.run.status, scene.run.reason, scene.run.exit_code) == (
            result.status,
            result.reason,
            result.exit_code,
        )

    def test_what_was_reported_after_a_cancel_is_recovered_as_canceled(self) -> None:
        assert watch(reported(active_scene(Status.CANCELING))).run.status is Status.CANCELED

    @pytest.mark.req("C10")
    def test_after_a_takeover_the_lost_attempt_owns_nothing(self) -> None:
        scene = watch(active_scene())

        assert (scene.heartbeat, scene.run.attempt_hash) == (None, None)
        with pytest.raises(OwnershipLost):
            attempt.report(scene, attempt_hash=MINE, result=PASSED, steps=())

    def test_an_attempt_that_never_gave_a_sign_is_judged_by_its_claim(self) -> None:
        silent = replace(active_scene(), heartbeat=None)

        assert watch(silent, EARLIER + seconds(45)).run.status is Status.RUNNING
        assert watch(silent, EARLIER + seconds(45.001)).run.status is Status.FAILED

    @pytest.mark.req("R27")
    def test_a_held_lock_is_released_without_word_of_the_sandbox(self) -> None:
        held = without_teardown(active_scene())
        scene = watch(held)

        assert queue.executable(scene.project) == run_id(2)
        assert scene.run == replace(held.run, attempt_hash=None, timers=Timers(index=NOW))

    def test_a_held_lock_is_not_released_while_the_last_sign_of_life_is_fresh(self) -> None:
        assert watch(without_teardown(active_scene()), NOW + seconds(45)).project.active is not None

    def test_a_project_that_another_run_holds_is_none_of_this_runs_business(self) -> None:
        other = Scene(project=project(entry(3), active=active(2)), run=run(1, Status.FAILED), successor=run(3))
        watched = replace(other, run=replace(other.run, timers=Timers(watchdog=NOW)))

        assert watch(watched) == other

    def test_watching_again_after_a_takeover_changes_nothing(self) -> None:
        taken = watch(active_scene())

        assert watch(taken, LOST + seconds(60)) == taken
