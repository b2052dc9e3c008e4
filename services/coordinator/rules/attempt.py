"""The life of an attempt: claim, start, heartbeat, report, complete.

Everything after the claim is fenced by the attempt's hash: a caller that does not own the run changes nothing (S7, Q8).
Each decision applied twice gives the same answer twice.
"""

from dataclasses import replace
from datetime import datetime

from services.coordinator.records.project import Active
from services.coordinator.records.run import Heartbeat, Result, Run, Step
from services.coordinator.rules import queue
from services.coordinator.rules.ending import canceled, ended, final, release
from services.coordinator.rules.numbers import Numbers
from services.coordinator.rules.scene import Scene
from services.kernel.errors import Conflict, OwnershipLost
from services.kernel.ids import CommitSha
from services.kernel.runs import Directive, Status, Verdict, move


class CommitMismatch(Conflict):
    """The runner checked out another commit than the one that was accepted (R10)."""

    code = "commit_mismatch"


class NotReported(Conflict):
    """A run cannot complete before its result is reported."""

    code = "not_reported"


def claim(scene: Scene, *, attempt_hash: str, now: datetime, numbers: Numbers) -> tuple[Scene, Verdict]:
    """Give an executable run to the first who asks (Q13); the same attempt asking again renews nothing."""
    run = scene.run
    if run.status is not Status.QUEUED:
        return scene, _stale(run, attempt_hash)
    if queue.executable(scene.project) != run.run_id:
        waits = scene.project.queued(run.run_id) is not None
        return scene, Verdict.NOT_CURRENTLY_EXECUTABLE if waits else Verdict.SUPERSEDED
    active = Active(run_id=run.run_id, attempt_hash=attempt_hash, claimed_at=now, commit_sha=run.commit_sha)
    claimed = replace(
        run,
        status=move(run.status, Status.STARTING),
        position=None,
        attempt_hash=attempt_hash,
        started_at=now,
        timers=replace(run.timers, dispatch=None, watchdog=now + numbers.stale),
    )
    scene = replace(scene, heartbeat=Heartbeat(attempt_hash=attempt_hash, at=now))
    return scene.with_project(queue.claim(scene.project, active), now=now).with_run(claimed, now=now), Verdict.EXECUTE


def start(scene: Scene, *, attempt_hash: str, commit_sha: CommitSha, now: datetime) -> tuple[Scene, Directive]:
    """Record the commit that is checked out and let commands begin, unless a cancel came first (R15, R16).

    Raises:
        OwnershipLost: another attempt's, or nobody's, run.
        CommitMismatch: the run is pinned to another commit, or already started at another one.
    """
    run = owned(scene, attempt_hash)
    if run.commit_sha not in (None, commit_sha):
        raise CommitMismatch(f"{run.run_id} is for commit {run.commit_sha}, not {commit_sha}")
    begun = replace(run, commit_sha=commit_sha)
    if run.status is Status.STARTING:
        begun = replace(begun, status=move(run.status, Status.RUNNING))
    scene, directive = heartbeat(_changed(scene, begun, now=now), attempt_hash=attempt_hash, now=now)
    if scene.project.active is None:
        raise OwnershipLost(f"{run.run_id} does not hold its project's lock")
    active = replace(scene.project.active, commit_sha=commit_sha)
    return replace(scene, project=replace(scene.project, active=active)), directive


def heartbeat(
    scene: Scene, *, attempt_hash: str, now: datetime, steps: tuple[Step, ...] | None = None
) -> tuple[Scene, Directive]:
    """Renew the lease. The first answer `cancel` makes a requested cancel a canceling one.

    Raises:
        OwnershipLost: another attempt's, or nobody's, run.
    """
    run = owned(scene, attempt_hash)
    known = scene.heartbeat.steps if scene.heartbeat else ()
    scene = replace(
        scene, heartbeat=Heartbeat(attempt_hash=attempt_hash, at=now, steps=known if steps is None else steps)
    )
    match run.status:
        case Status.CANCEL_REQUESTED if run.result is None:
            canceling = replace(run, status=move(run.status, Status.CANCELING))
            return scene.with_run(canceling, now=now), Directive.CANCEL
        case Status.CANCELING:
            return scene, Directive.CANCEL
        case _:
            return scene, Directive.CONTINUE


def report(scene: Scene, *, attempt_hash: str, result: Result, steps: tuple[Step, ...]) -> Scene:
    """Remember how the run ended; it is terminal only once its sandbox is gone (R25). The first report stands.

    Raises:
        OwnershipLost: another attempt's, or nobody's, run.
        IllegalMove: the run cannot end like that from where it is.
    """
    if _ended_by(scene.run, attempt_hash):
        return scene
    run = owned(scene, attempt_hash)
    if run.result is not None:
        return scene
    if not canceled(run):
        move(run.status, result.status)
    return replace(scene, run=replace(run, result=result, steps=steps))


def complete(scene: Scene, *, attempt_hash: str, teardown_complete: bool, now: datetime, numbers: Numbers) -> Scene:
    """End the run with its reported result; the next one is promoted only if the sandbox is gone (R24, C9).

    Raises:
        OwnershipLost: another attempt's, or nobody's, run.
        NotReported: there is no result yet.
    """
    if _ended_by(scene.run, attempt_hash):
        return scene
    run = owned(scene, attempt_hash)
    if run.result is None:
        raise NotReported(f"{run.run_id} has no reported result")
    result = final(run, run.result, torn_down=teardown_complete)
    if teardown_complete:
        return release(ended(scene, result, now=now, numbers=numbers), now=now)
    held = ended(scene, result, now=now, numbers=numbers, watchdog=run.timers.watchdog or now)
    active = scene.project.active
    project = replace(scene.project, active=None if active is None else replace(active, lock_held=True))
    lease = None if scene.heartbeat is None else replace(scene.heartbeat, attempt_hash="")
    return replace(held, project=project, heartbeat=lease)


def owned(scene: Scene, attempt_hash: str) -> Run:
    """The run, if this attempt owns it now.

    Raises:
        OwnershipLost: it does not, or no longer.
    """
    lease = scene.heartbeat
    if not scene.run.status.active or lease is None or {lease.attempt_hash, scene.run.attempt_hash} != {attempt_hash}:
        raise OwnershipLost(f"{scene.run.run_id} is {scene.run.status} and not this attempt's")
    return scene.run


def _stale(run: Run, attempt_hash: str) -> Verdict:
    if run.status is Status.CANCELED:
        return Verdict.CANCELED
    if run.status.terminal:
        return Verdict.ALREADY_TERMINAL
    return Verdict.EXECUTE if run.attempt_hash == attempt_hash else Verdict.RUN_ACTIVE


def _changed(scene: Scene, run: Run, *, now: datetime) -> Scene:
    return scene if run == scene.run else scene.with_run(run, now=now)


def _ended_by(run: Run, attempt_hash: str) -> bool:
    """Whether this very attempt ended the run, so that it only asks again because it missed the answer."""
    return run.status.terminal and run.attempt_hash == attempt_hash
