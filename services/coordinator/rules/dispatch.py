"""Handing an executable run to a runner: which task, and when to try again."""

from dataclasses import replace
from datetime import datetime, timedelta

from services.coordinator.records.run import Run
from services.coordinator.rules.numbers import Numbers
from services.kernel.ids import RunId, fingerprint
from services.kernel.ports import Target, Task
from services.kernel.wire.internal import RECONCILE, RUN
from services.kernel.wire.runs import ReconcileTask, RunTask


def hand_over(run: Run, *, trace: str | None) -> Task:
    """The task that tells a runner; its name holds the dispatch number, for a used name stays blocked for hours."""
    return Task(
        target=Target.RUNNER,
        path=RUN.path,
        body=RunTask(run=run.run_id, dispatch=run.dispatch).model_dump(mode="json", by_alias=True),
        name=fingerprint("run", run.run_id, str(run.dispatch)),
        trace=trace,
    )


def look_again(run_id: RunId, *, at: datetime, trace: str | None) -> Task:
    """The task that has a run reconciled at a moment."""
    return Task(
        target=Target.COORDINATOR,
        path=RECONCILE.path,
        body=ReconcileTask(run=run_id).model_dump(mode="json", by_alias=True),
        name=fingerprint("reconcile", run_id, at.isoformat()),
        not_before=at,
        trace=trace,
    )


def taken(run: Run, *, now: datetime, numbers: Numbers) -> Run:
    """The queue has the task. If nobody claims the run in time it is handed over again, under the next number."""
    return replace(_due(run, now + numbers.unclaimed), dispatch=run.dispatch + 1, rejections=0)


def unanswered(run: Run, *, now: datetime, numbers: Numbers) -> Run:
    """The queue is away or did not answer: the same task again soon, and no count is kept of it."""
    return _due(run, now + numbers.enqueue_again)


def rejected(run: Run, *, now: datetime, numbers: Numbers) -> Run | None:
    """The queue refuses the task itself: again later each time; None when it was refused often enough to give up."""
    if run.rejections >= len(numbers.dispatch_retries):
        return None
    wait: timedelta = numbers.dispatch_retries[run.rejections]
    return replace(_due(run, now + wait), rejections=run.rejections + 1)


def _due(run: Run, at: datetime) -> Run:
    return replace(run, timers=replace(run.timers, dispatch=at))
