"""How a run ends: by its result, by a cancel, by a task queue that refuses it, or by a takeover.

The first thing that ends a run stands (C10). Whether the next one is promoted depends on what is known of the sandbox.
"""

from dataclasses import replace
from datetime import datetime, timedelta

from services.coordinator.records.run import Result, Run, Step
from services.coordinator.rules import queue
from services.coordinator.rules.numbers import Numbers
from services.coordinator.rules.scene import Scene
from services.kernel.runs import Reason, Status, move


def cancel(scene: Scene, *, now: datetime, numbers: Numbers) -> Scene:
    """Ask for the end of a run. A queued one ends here (Q15); once a result is reported nothing changes (C27)."""
    run = scene.run
    match run.status:
        case Status.QUEUED:
            result = Result(status=Status.CANCELED, reason=None, detail=None, exit_code=None)
            return _leave(scene, result, now=now, numbers=numbers)
        case Status.STARTING | Status.RUNNING if run.result is None:
            requested = replace(run, status=move(run.status, Status.CANCEL_REQUESTED))
            active = scene.project.active
            project = replace(scene.project, active=None if active is None else replace(active, cancel_requested=True))
            return replace(scene, project=project).with_run(requested, now=now)
        case _:
            return scene


def undeliverable(scene: Scene, *, now: datetime, numbers: Numbers) -> Scene:
    """End an executable run that the task queue refuses to hand over; the next one gets its turn (C28)."""
    if scene.run.status is not Status.QUEUED:
        return scene
    result = Result(
        status=Status.FAILED,
        reason=Reason.DISPATCH_FAILED,
        detail="The task queue refused to hand this run to a runner.",
        exit_code=None,
    )
    return _leave(scene, result, now=now, numbers=numbers)


def watch(scene: Scene, *, now: datetime, numbers: Numbers) -> Scene:
    """Take the project back from an attempt without a sign of life for `stale`, or say when to look again.

    What was reported stands as the result; without a report the runner was lost (Q9, C8). The lock is released without
    waiting for the sandbox (R27), and nobody owns the run any more (C10).
    """
    active = scene.project.active
    if active is None or active.run_id != scene.run.run_id:
        return replace(scene, run=replace(scene.run, timers=replace(scene.run.timers, watchdog=None)))
    seen = scene.heartbeat.at if scene.heartbeat else active.claimed_at
    if now - seen <= numbers.stale:
        due = seen + numbers.stale + timedelta(milliseconds=1)
        return replace(scene, run=replace(scene.run, timers=replace(scene.run.timers, watchdog=due)))
    if not scene.run.status.terminal:
        scene = _taken_over(scene, now=now, numbers=numbers)
    fenced = replace(scene.run, attempt_hash=None, timers=replace(scene.run.timers, watchdog=None))
    return release(replace(scene, run=fenced), now=now)


def canceled(run: Run) -> bool:
    return run.status in (Status.CANCEL_REQUESTED, Status.CANCELING)


def final(run: Run, reported: Result, *, torn_down: bool) -> Result:
    """What a reported result comes to: a cancel that came before it wins (C27)."""
    if not canceled(run):
        return reported
    if torn_down:
        return replace(reported, status=Status.CANCELED, reason=None)
    return replace(reported, status=Status.FAILED, reason=Reason.TEARDOWN_FAILED)


def ended(scene: Scene, result: Result, *, now: datetime, numbers: Numbers, watchdog: datetime | None = None) -> Scene:
    run = scene.run
    ended = replace(
        run,
        status=move(run.status, result.status),
        position=None,
        reason=result.reason,
        detail=result.detail,
        exit_code=result.exit_code,
        finished_at=now,
        expires_at=now + numbers.keep_runs,
        timers=replace(run.timers, dispatch=None, watchdog=watchdog),
    )
    return scene.with_run(ended, now=now)


def release(scene: Scene, *, now: datetime) -> Scene:
    return replace(scene, heartbeat=None).with_project(queue.release(scene.project), now=now)


def _taken_over(scene: Scene, *, now: datetime, numbers: Numbers) -> Scene:
    run = scene.run
    lost = Result(
        status=Status.FAILED,
        reason=Reason.RUNNER_LOST,
        detail="The runner gave no sign of life; it was declared lost.",
        exit_code=None,
    )
    result = lost if run.result is None else final(run, run.result, torn_down=True)
    told = scene.heartbeat.steps if scene.heartbeat else ()
    known = replace(scene, run=replace(run, steps=run.steps or _left_behind(told)))
    return ended(known, result, now=now, numbers=numbers)


def _left_behind(steps: tuple[Step, ...]) -> tuple[Step, ...]:
    """The steps of a lost attempt as they are last known, of which none goes on any more."""
    ends = {"running": "failed", "pending": "skipped"}
    return tuple(replace(step, status=ends.get(step.status, step.status)) for step in steps)


def _leave(scene: Scene, result: Result, *, now: datetime, numbers: Numbers) -> Scene:
    scene = ended(scene, result, now=now, numbers=numbers)
    return scene.with_project(queue.leave(scene.project, scene.run.run_id), now=now)
