"""Runs that a person asks for: a branch head, or a finished run again (R13, R14, C16)."""

from dataclasses import dataclass, replace
from datetime import datetime

from services.coordinator.records.delivery import RefEvent
from services.coordinator.records.project import Project
from services.coordinator.records.run import Run, Timers
from services.coordinator.rules import queue
from services.coordinator.rules.numbers import Numbers
from services.kernel.errors import IdempotencyKeyReused, NotFound, NotRerunnable
from services.kernel.ids import RunId, fingerprint
from services.kernel.runs import Kind, Status, Trigger
from services.kernel.wire.runs import AcceptRun


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """What a request came to. Without `project` nothing is to be written: it had been accepted before."""

    run_id: RunId
    project: Project | None = None
    run: Run | None = None
    ref_event: RefEvent | None = None


def request_fingerprint(command: AcceptRun) -> str:
    """What must be equal for one idempotency key to mean one request: route, source run and branch."""
    route = "rerun" if command.source else "start"
    return fingerprint(route, command.source or "", command.branch or "")


def decide(
    project: Project,
    run_id: RunId,
    command: AcceptRun,
    *,
    found: Run | None,
    source: Run | None,
    ref_event: RefEvent | None,
    now: datetime,
    numbers: Numbers,
) -> Asked:
    """Queue a run for a person; no commit is pinned unless a webhook run is run again (R14).

    `found` is the run that has this id already, `source` the run to run again, `ref_event` the push it belongs to, in
    whose list the rerun takes its place (C20).

    Raises:
        IdempotencyKeyReused: the key stands for another request.
        NotFound: there is no such run to run again in this project.
        NotRerunnable: it has not ended, or is a build of a release.
        QueueFull: see `queue.accept`; nothing is created (R45).
    """
    if found is not None:
        if found.request_fingerprint != request_fingerprint(command):
            raise IdempotencyKeyReused(f"this key was used for another request, which became {found.run_id}")
        return Asked(run_id=run_id)
    run = _rerun(project, run_id, command, source=source, now=now) if command.source else None
    run = run or _manual(project, run_id, command, now=now)
    accepted = queue.accept(
        project, run_id, branch=run.branch, commit_sha=run.commit_sha, now=now, cap=numbers.queue_cap
    )
    if queue.executable(accepted) == run_id:
        run = replace(run, timers=replace(run.timers, dispatch=now))
    event = None
    if ref_event is not None and command.source:
        kept = tuple(attached for attached in ref_event.run_ids if attached != command.source)
        event = replace(ref_event, run_ids=(*kept, run_id))
    return Asked(run_id=run_id, project=accepted, run=run, ref_event=event)


def _manual(project: Project, run_id: RunId, command: AcceptRun, *, now: datetime) -> Run:
    return Run(
        run_id=run_id,
        project_id=project.project_id,
        project=project.slug,
        kind=Kind.ACTION,
        trigger=Trigger.MANUAL,
        actor=command.actor,
        status=Status.QUEUED,
        position=project.next_position,
        branch=command.branch or project.default_branch,
        commit_sha=None,
        pinned=False,
        request_fingerprint=request_fingerprint(command),
        queued_at=now,
        timers=Timers(index=now),
    )


def _rerun(project: Project, run_id: RunId, command: AcceptRun, *, source: Run | None, now: datetime) -> Run:
    if source is None or source.project_id != project.project_id:
        raise NotFound(f"there is no run {command.source} in {project.slug}")
    if not source.status.terminal or source.kind is not Kind.ACTION:
        raise NotRerunnable(f"{source.run_id} is a {source.kind} run and {source.status}")
    return replace(
        _manual(project, run_id, command, now=now),
        trigger=Trigger.RERUN,
        branch=source.branch,
        commit_sha=source.commit_sha if source.pinned else None,
        pinned=source.pinned,
        before_sha=source.before_sha if source.pinned else None,
        delivery_id=source.delivery_id,
        ref_event_id=source.ref_event_id,
        source_run_id=source.run_id,
    )
