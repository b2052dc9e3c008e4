"""The life of an attempt from its claim on: claim, start, heartbeat."""

from collections.abc import Callable
from dataclasses import replace

import pytest

from services.coordinator.records.project import Active
from services.coordinator.records.run import Heartbeat, IndexSync, Step, Timers
from services.coordinator.rules import attempt
from services.coordinator.rules.attempt import CommitMismatch
from services.coordinator.rules.scene import Scene
from services.kernel.errors import OwnershipLost
from services.kernel.ids import CommitSha
from services.kernel.runs import Directive, Status, Verdict
from tests.unit.coordinator.builders import (
    EARLIER,
    FOREIGN,
    MINE,
    NOW,
    NUMBERS,
    OTHER_SHA,
    PASSED,
    SHA,
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

ACTIVE = (Status.STARTING, Status.RUNNING, Status.CANCEL_REQUESTED, Status.CANCELING)


def claim(scene: Scene, attempt_hash: str = MINE) -> tuple[Scene, Verdict]:
    return attempt.claim(scene, attempt_hash=attempt_hash, now=NOW, numbers=NUMBERS)


def start(scene: Scene, sha: CommitSha = SHA, attempt_hash: str = MINE) -> tuple[Scene, Directive]:
    return attempt.start(scene, attempt_hash=attempt_hash, commit_sha=sha, now=NOW)


def beat(scene: Scene, attempt_hash: str = MINE, steps: tuple[Step, ...] | None = None) -> tuple[Scene, Directive]:
    return attempt.heartbeat(scene, attempt_hash=attempt_hash, now=NOW, steps=steps)


def manual(scene: Scene) -> Scene:
    """The scene with a run of a branch head, whose commit nobody knows yet."""
    return replace(scene, run=replace(scene.run, commit_sha=None, pinned=False))


class TestClaim:
    def test_an_executable_run_goes_to_the_first_who_claims_it(self) -> None:
        scene, verdict = claim(waiting_scene())

        assert verdict is Verdict.EXECUTE
        assert scene.run.status is Status.STARTING
        assert (scene.run.attempt_hash, scene.run.started_at) == (MINE, NOW)
        assert scene.project.active == Active(run_id=run_id(1), attempt_hash=MINE, claimed_at=NOW, commit_sha=SHA)
        assert scene.project.queue == (entry(2),)

    @pytest.mark.req("R22")
    @pytest.mark.inv("Q3")
    def test_a_claimed_run_has_no_position(self) -> None:
        scene, _ = claim(waiting_scene())

        assert scene.run.position is None

    def test_a_claim_is_the_first_sign_of_life_and_sets_the_watchdog(self) -> None:
        scene, _ = claim(waiting_scene())

        assert scene.heartbeat == Heartbeat(attempt_hash=MINE, at=NOW)
        assert scene.run.timers == Timers(dispatch=None, watchdog=NOW + seconds(45), index=NOW)

    @pytest.mark.req("R39")
    def test_a_claim_before_the_first_row_makes_the_index_owe_an_update_that_creates_it(self) -> None:
        scene, _ = claim(waiting_scene())

        assert scene.run.index_sync is IndexSync.NEEDS_UPDATE

    def test_the_same_attempt_asking_again_is_told_the_same_and_renews_nothing(self) -> None:
        claimed, _ = claim(waiting_scene())

        assert attempt.claim(claimed, attempt_hash=MINE, now=NOW + seconds(9), numbers=NUMBERS) == (
            claimed,
            Verdict.EXECUTE,
        )

    @pytest.mark.inv("Q6")
    def test_a_run_behind_another_is_not_executable(self) -> None:
        scene = Scene(project=project(executable(1), entry(2)), run=run(2), successor=run(1))

        assert claim(scene) == (scene, Verdict.NOT_CURRENTLY_EXECUTABLE)

    def test_a_run_behind_an_active_one_is_not_executable(self) -> None:
        scene = Scene(project=active_scene().project, run=run(2))

        assert claim(scene) == (scene, Verdict.NOT_CURRENTLY_EXECUTABLE)

    def test_a_run_that_its_queue_does_not_know_is_superseded(self) -> None:
        scene = Scene(project=project(executable(2)), run=run(1), successor=run(2))

        assert claim(scene) == (scene, Verdict.SUPERSEDED)

    @pytest.mark.parametrize("status", ACTIVE)
    def test_a_run_that_another_attempt_owns_is_active(self, status: Status) -> None:
        scene = active_scene(status)

        assert claim(scene, FOREIGN) == (scene, Verdict.RUN_ACTIVE)

    @pytest.mark.parametrize(
        ("status", "verdict"),
        [
            (Status.CANCELED, Verdict.CANCELED),
            (Status.PASSED, Verdict.ALREADY_TERMINAL),
            (Status.FAILED, Verdict.ALREADY_TERMINAL),
        ],
    )
    @pytest.mark.parametrize("attempt_hash", [MINE, FOREIGN])
    def test_a_run_that_has_ended_is_claimed_by_nobody(
        self, status: Status, verdict: Verdict, attempt_hash: str
    ) -> None:
        scene = Scene(project=project(), run=run(1, status))

        assert claim(scene, attempt_hash) == (scene, verdict)


class TestStart:
    def test_the_run_is_running_and_its_commit_known_in_the_project_too(self) -> None:
        scene, directive = start(manual(active_scene(Status.STARTING)))

        assert directive is Directive.CONTINUE
        assert (scene.run.status, scene.run.commit_sha) == (Status.RUNNING, SHA)
        assert scene.project.active is not None
        assert scene.project.active.commit_sha == SHA

    def test_a_commit_that_becomes_known_owes_the_index_an_update(self) -> None:
        scene, _ = start(manual(active_scene(Status.CANCELING)))

        assert (scene.run.index_sync, scene.run.timers.index) == (IndexSync.NEEDS_UPDATE, NOW)

    @pytest.mark.req("R17")
    def test_the_reported_commit_does_not_pin_the_run(self) -> None:
        scene, _ = start(manual(active_scene(Status.STARTING)))

        assert not scene.run.pinned

    @pytest.mark.inv("S5")
    def test_a_webhooks_run_starts_at_no_other_commit_than_its_own(self) -> None:
        with pytest.raises(CommitMismatch):
            start(active_scene(Status.STARTING), OTHER_SHA)

    @pytest.mark.inv("S6")
    def test_a_commit_that_is_known_does_not_become_another(self) -> None:
        started, _ = start(manual(active_scene(Status.STARTING)))

        with pytest.raises(CommitMismatch):
            start(started, OTHER_SHA)

    def test_starting_twice_changes_the_run_once(self) -> None:
        started, _ = start(manual(active_scene(Status.STARTING)))

        assert start(started) == (started, Directive.CONTINUE)

    def test_a_start_is_a_sign_of_life(self) -> None:
        scene, _ = start(active_scene(Status.STARTING, seen=EARLIER))

        assert scene.heartbeat == Heartbeat(attempt_hash=MINE, at=NOW)

    def test_a_cancel_that_came_first_lets_no_command_begin(self) -> None:
        scene, directive = start(manual(active_scene(Status.CANCEL_REQUESTED)))

        assert directive is Directive.CANCEL
        assert (scene.run.status, scene.run.commit_sha) == (Status.CANCELING, SHA)

    def test_a_run_without_its_projects_lock_does_not_start(self) -> None:
        scene = active_scene(Status.STARTING)

        with pytest.raises(OwnershipLost):
            start(replace(scene, project=project(entry(2))))


class TestHeartbeat:
    def test_it_renews_the_lease_and_leaves_run_and_project_alone(self) -> None:
        before = active_scene(seen=EARLIER)

        assert beat(before) == (
            replace(before, heartbeat=Heartbeat(attempt_hash=MINE, at=NOW)),
            Directive.CONTINUE,
        )

    def test_it_keeps_the_steps_until_it_is_told_new_ones(self) -> None:
        first, second = (Step(name="test", status="running"),), (Step(name="test", status="passed", exit_code=0),)
        told, _ = beat(active_scene(), steps=first)

        assert [beat(told)[0].heartbeat, beat(told, steps=second)[0].heartbeat] == [
            Heartbeat(attempt_hash=MINE, at=NOW, steps=first),
            Heartbeat(attempt_hash=MINE, at=NOW, steps=second),
        ]

    def test_the_first_answer_to_a_requested_cancel_makes_it_a_canceling_one(self) -> None:
        scene, directive = beat(active_scene(Status.CANCEL_REQUESTED))

        assert (directive, scene.run.status) == (Directive.CANCEL, Status.CANCELING)
        assert scene.run.index_sync is IndexSync.NEEDS_UPDATE
        assert beat(scene) == (scene, Directive.CANCEL)

    def test_a_cancel_says_nothing_to_an_attempt_that_has_reported(self) -> None:
        before = reported(active_scene(Status.CANCEL_REQUESTED))

        assert beat(before) == (before, Directive.CONTINUE)


Ask = Callable[[Scene, str], object]

ASKED: dict[str, Ask] = {
    "start": lambda scene, attempt_hash: start(scene, attempt_hash=attempt_hash),
    "heartbeat": beat,
    "report": lambda scene, attempt_hash: attempt.report(scene, attempt_hash=attempt_hash, result=PASSED, steps=()),
    "complete": lambda scene, attempt_hash: attempt.complete(
        reported(scene), attempt_hash=attempt_hash, teardown_complete=True, now=NOW, numbers=NUMBERS
    ),
}

LOST = {
    "another attempt": (active_scene(), FOREIGN),
    "the lease is another's": (
        replace(active_scene(), heartbeat=Heartbeat(attempt_hash=FOREIGN, at=NOW)),
        MINE,
    ),
    "the lease is gone": (replace(active_scene(), heartbeat=None), MINE),
    "nobody owns the run": (replace(active_scene(), run=replace(run(1, Status.RUNNING), attempt_hash=None)), MINE),
    "the run waits": (replace(waiting_scene(), heartbeat=Heartbeat(attempt_hash=MINE, at=NOW)), MINE),
    "the run was taken over": (
        replace(active_scene(Status.FAILED), run=replace(run(1, Status.FAILED), attempt_hash=None)),
        MINE,
    ),
}


@pytest.mark.inv("S7")
@pytest.mark.parametrize("asked", ASKED)
@pytest.mark.parametrize("lost", LOST)
def test_whoever_does_not_own_the_run_changes_nothing(asked: str, lost: str) -> None:
    scene, attempt_hash = LOST[lost]

    with pytest.raises(OwnershipLost):
        ASKED[asked](scene, attempt_hash)
