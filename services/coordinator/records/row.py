"""A row of the run index (`run_index/{run}`): the projection that lists and history read."""

from dataclasses import dataclass
from datetime import datetime

from services.coordinator.records.table import Table
from services.kernel.ids import CommitSha, ProjectId, RunId, Slug
from services.kernel.runs import Kind, Reason, Status, Trigger


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    run_id: RunId
    project_id: ProjectId
    project: Slug
    kind: Kind
    trigger: Trigger
    actor: str | None
    status: Status
    branch: str
    commit_sha: CommitSha | None
    before_sha: CommitSha | None
    reason: Reason | None
    exit_code: int | None
    queued_at: datetime
    started_at: datetime | None
    finished_at: datetime | None
    expires_at: datetime


RUN_INDEX = Table("run_index", Row, schema=1)
