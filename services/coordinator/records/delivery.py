"""A recorded delivery (`deliveries/{delivery}`), and the push that it brought (`ref_events/{event}`)."""

from dataclasses import dataclass
from datetime import datetime

from services.coordinator.records.table import Table
from services.kernel.ids import CommitSha, DeliveryRowId, ProjectId, RunId
from services.kernel.wire.deliveries import EventKind, Note, Outcome, Provider


@dataclass(frozen=True, slots=True, kw_only=True)
class Delivery:
    """One row a dedupe key (R64). From `expires_at` on it counts as absent, deleted or not (R65, C5).

    `decided_by` is the run id that the deciding command offered: by it a command whose answer was lost knows its row.
    """

    row_id: DeliveryRowId
    project_id: ProjectId
    provider: Provider
    flavor: str
    delivery_id: str
    event_kind: EventKind
    event_name: str
    outcome: Outcome
    note: Note | None = None
    repository_url: str | None
    ref: str | None
    branch: str | None
    commit_sha: CommitSha | None
    before_sha: CommitSha | None
    body_sha256: str
    decided_by: RunId
    run_id: RunId | None
    received_at: datetime
    decided_at: datetime
    expires_at: datetime
    duplicate_count: int = 0
    last_duplicate_at: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RefEvent:
    """An accepted push (C20). `order` is the position of its first run; `run_ids` are its Action runs."""

    project_id: ProjectId
    branch: str
    commit_sha: CommitSha
    before_sha: CommitSha | None
    received_at: datetime
    delivery_id: DeliveryRowId
    order: int
    run_ids: tuple[RunId, ...]
    expires_at: datetime


DELIVERIES = Table("deliveries", Delivery, schema=1)
REF_EVENTS = Table("ref_events", RefEvent, schema=1)
