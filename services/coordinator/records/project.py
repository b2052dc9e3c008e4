"""A project: the actor's whole state, in one document (`projects/{project}`), which is also its lock."""

from dataclasses import dataclass, field, replace
from datetime import datetime
from enum import StrEnum

from services.coordinator.records.table import Table
from services.kernel.ids import CommitSha, ProjectId, RunId, Slug


class QueueState(StrEnum):
    """How a queued run stands in its queue; shown to nobody (R5)."""

    PENDING = "pending"
    EXECUTABLE = "executable"


@dataclass(frozen=True, slots=True, kw_only=True)
class QueueEntry:
    """A waiting run. `position` never changes and is never given to another run (R20, C14)."""

    run_id: RunId
    position: int
    state: QueueState
    branch: str
    commit_sha: CommitSha | None
    queued_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Active:
    """The run that holds the project's lock.

    `lock_held`: the run has ended, but its sandbox is not known to be gone (C9).
    """

    run_id: RunId
    attempt_hash: str
    claimed_at: datetime
    commit_sha: CommitSha | None
    cancel_requested: bool = False
    lock_held: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Sealed:
    """A webhook secret that only ingress can open."""

    secret_id: str
    key_version: str
    nonce: str
    ciphertext: str = field(repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Webhook:
    """`version` is a random id of this very state, so it never comes back after a deletion."""

    version: str
    enabled: bool
    config: dict[str, str | bool]
    secret: Sealed
    rotated_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Project:
    """`queue` is in position order; `webhooks` is keyed by provider."""

    project_id: ProjectId
    slug: Slug
    name: str
    repository_url: str
    default_branch: str
    config_path: str
    created_at: datetime
    queue: tuple[QueueEntry, ...] = ()
    active: Active | None = None
    next_position: int = 1
    webhooks: dict[str, Webhook] = field(default_factory=dict[str, Webhook])

    def queued(self, run_id: RunId) -> QueueEntry | None:
        return next((entry for entry in self.queue if entry.run_id == run_id), None)

    def with_webhook(self, provider: str, webhook: Webhook) -> "Project":
        return replace(self, webhooks={**self.webhooks, provider: webhook})

    def without_webhook(self, provider: str) -> "Project":
        return replace(self, webhooks={name: kept for name, kept in self.webhooks.items() if name != provider})


@dataclass(frozen=True, slots=True, kw_only=True)
class SlugClaim:
    """Makes a slug unique without a query; created with its project, deleted with it."""

    project_id: ProjectId


PROJECTS = Table("projects", Project, schema=1)
SLUGS = Table("slugs", SlugClaim, schema=1)
