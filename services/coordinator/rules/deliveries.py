"""What becomes of a verified delivery.

In this order: whoever decided it already is answered as before; the webhook must still be the one that verified it, and
the repository the project's; a stored outcome is replayed; else the delivery is classified, and a push to the tracked
branch asks for a place in the queue.
"""

from dataclasses import dataclass, replace
from datetime import datetime

from services.coordinator.records.delivery import Delivery, RefEvent
from services.coordinator.records.project import Project
from services.coordinator.records.run import Run, Timers
from services.coordinator.rules import queue
from services.coordinator.rules.numbers import Numbers
from services.coordinator.rules.repositories import names_repository
from services.kernel.errors import InvalidPayload, QueueFull, RepositoryMismatch, StaleVerification
from services.kernel.ids import CommitSha, DeliveryRowId, RunId, delivery_row_id
from services.kernel.runs import Kind, Status, Trigger
from services.kernel.wire.deliveries import AcceptDelivery, Canonical, EventKind, Note, Outcome


@dataclass(frozen=True, slots=True, kw_only=True)
class Recorded:
    """`row` is what is stored now. With a run, project, run and ref event are new too. `duplicate`: it was replayed."""

    row: Delivery
    duplicate: bool = False
    project: Project | None = None
    run: Run | None = None
    ref_event: RefEvent | None = None


def check(project: Project, command: AcceptDelivery) -> None:
    """Whether the delivery may be looked at.

    Raises:
        StaleVerification: the webhook changed, was disabled or is gone since it verified the delivery (C11).
        RepositoryMismatch: the body names another repository (C7).
    """
    webhook = project.webhooks.get(command.canonical.provider)
    if webhook is None or not webhook.enabled or webhook.version != command.webhook_version:
        raise StaleVerification
    urls = command.canonical.repository_urls
    if urls and not names_repository(urls, project.repository_url):
        other = command.canonical.repository_url
        raise RepositoryMismatch(f"the delivery is about {other}, the project is {project.repository_url}")


def classify(canonical: Canonical, project: Project) -> Outcome:
    """What a delivery asks for; `ACCEPTED` is a push to the tracked branch, whether or not there is room (R62).

    A commit whose message asks for no run is no such push.
    """
    match canonical.event_kind:
        case EventKind.PING:
            return Outcome.IGNORED_PING
        case EventKind.PUSH if canonical.branch != project.default_branch:
            return Outcome.IGNORED_BRANCH
        case EventKind.PUSH if not canonical.skip_ci:
            return Outcome.ACCEPTED
        case _:
            return Outcome.IGNORED_EVENT


def decide(
    project: Project, found: Delivery | None, command: AcceptDelivery, *, now: datetime, numbers: Numbers
) -> Recorded:
    """Record the delivery and, if it asks for one and there is room, its run.

    `found` is the row of its key. An expired one counts as absent (R65). A `queue_full` one is evaluated again (R50),
    unless the push would now be ignored, so that nobody resends for ever (C6); every other outcome is final (R53).

    Raises:
        StaleVerification, RepositoryMismatch: see `check`.
    """
    known = found if found is not None and now < found.expires_at else None
    if known is not None and known.decided_by == command.run_id:
        return Recorded(row=known)
    check(project, command)
    outcome = classify(command.canonical, project)
    if known is not None and (known.outcome is not Outcome.QUEUE_FULL or outcome is not Outcome.ACCEPTED):
        return Recorded(row=known, duplicate=True)
    row = _row(project, command, outcome, now=now, numbers=numbers)
    if known is not None:
        row = replace(row, received_at=known.received_at, duplicate_count=known.duplicate_count)
    if outcome is not Outcome.ACCEPTED:
        return Recorded(row=row)
    try:
        return _with_run(project, row, RunId(command.run_id), now=now, numbers=numbers)
    except QueueFull:
        return Recorded(row=replace(row, outcome=Outcome.QUEUE_FULL))


def repeated(row: Delivery, *, times: int, now: datetime) -> Delivery:
    """The row after replays: counted, its outcome and run untouched (R63, C5)."""
    return replace(row, duplicate_count=row.duplicate_count + times, last_duplicate_at=now)


def _row(project: Project, command: AcceptDelivery, outcome: Outcome, *, now: datetime, numbers: Numbers) -> Delivery:
    canonical = command.canonical
    return Delivery(
        row_id=delivery_row_id(project.project_id, canonical.provider, canonical.delivery_id),
        project_id=project.project_id,
        provider=canonical.provider,
        flavor=canonical.flavor,
        delivery_id=canonical.delivery_id,
        event_kind=canonical.event_kind,
        event_name=canonical.event_name,
        outcome=outcome,
        note=Note.SKIP_CI if outcome is Outcome.IGNORED_EVENT and canonical.skip_ci else None,
        repository_url=canonical.repository_url,
        ref=canonical.ref,
        branch=canonical.branch,
        commit_sha=_sha(canonical.commit_sha),
        before_sha=_sha(canonical.before_sha),
        body_sha256=canonical.body_sha256,
        decided_by=RunId(command.run_id),
        run_id=None,
        received_at=now,
        decided_at=now,
        expires_at=now + numbers.dedupe,
    )


def _with_run(project: Project, row: Delivery, run_id: RunId, *, now: datetime, numbers: Numbers) -> Recorded:
    if row.branch is None or row.commit_sha is None:
        raise InvalidPayload("a push names a branch and a commit")
    position = project.next_position
    accepted = queue.accept(
        project, run_id, branch=row.branch, commit_sha=row.commit_sha, now=now, cap=numbers.queue_cap
    )
    run = Run(
        run_id=run_id,
        project_id=project.project_id,
        project=project.slug,
        kind=Kind.ACTION,
        trigger=Trigger.WEBHOOK,
        actor=None,
        status=Status.QUEUED,
        position=position,
        branch=row.branch,
        commit_sha=row.commit_sha,
        pinned=True,
        before_sha=row.before_sha,
        delivery_id=row.row_id,
        ref_event_id=run_id,
        queued_at=now,
        timers=Timers(dispatch=now if queue.executable(accepted) == run_id else None, index=now),
    )
    event = RefEvent(
        project_id=project.project_id,
        branch=row.branch,
        commit_sha=row.commit_sha,
        before_sha=row.before_sha,
        received_at=row.received_at,
        delivery_id=DeliveryRowId(row.row_id),
        order=position,
        run_ids=(run_id,),
        expires_at=now + numbers.keep_runs,
    )
    row = replace(row, run_id=run_id)
    return Recorded(row=row, project=accepted, run=run, ref_event=event)


def _sha(text: str | None) -> CommitSha | None:
    return None if text is None else CommitSha(text)
