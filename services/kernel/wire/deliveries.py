"""Messages about webhook deliveries: the canonical payload, what became of it, and how it is shown."""

from enum import StrEnum
from typing import Annotated

from pydantic import Field

from services.kernel.wire.model import Moment, PageQuery, RunIdText, ShaText, Wire


class Provider(StrEnum):
    """A webhook route. The Gitea route serves Forgejo and Gogs too."""

    GITHUB = "github"
    GITLAB = "gitlab"
    GITEA = "gitea"


class EventKind(StrEnum):
    """What a delivery is about, for all providers alike."""

    PING = "ping"
    PUSH = "push"
    TAG = "tag"
    DELETION = "deletion"
    OTHER = "other"


class Outcome(StrEnum):
    """What a verified delivery came to. These five are stored, never "duplicate" (R61, R63)."""

    ACCEPTED = "accepted"
    IGNORED_PING = "ignored_ping"
    IGNORED_EVENT = "ignored_event"
    IGNORED_BRANCH = "ignored_branch"
    QUEUE_FULL = "queue_full"


class Note(StrEnum):
    """Why an outcome is what it is, where the delivery alone does not tell."""

    SKIP_CI = "skip_ci"


DeliveryId = Annotated[str, Field(min_length=1, max_length=256, pattern=r"^[\x20-\x7e]+$")]


class Canonical(Wire):
    """One shape for every provider's delivery (R55, R56), built before any decision and without project data.

    `repository_urls` are all the URLs by which the body names its repository (clone, http, ssh, web), `repository_url`
    the one to show. `branch` is the ref without `refs/heads/`, stripped once and otherwise verbatim. All-zero ids are
    null. `commit_sha` is a commit also where a tag object was pushed. `skip_ci`: the commit's message asks for no run.
    """

    provider: Provider
    flavor: str
    delivery_id: DeliveryId
    event_kind: EventKind
    event_name: str = Field(max_length=256)
    repository_url: str | None = Field(default=None, max_length=2000)
    repository_urls: tuple[Annotated[str, Field(max_length=2000)], ...] = Field(default=(), max_length=16)
    ref: str | None = Field(default=None, max_length=1200)
    branch: str | None = Field(default=None, max_length=1200)
    commit_sha: ShaText | None = None
    before_sha: ShaText | None = None
    skip_ci: bool = False
    body_sha256: str = Field(pattern=r"^[0-9a-f]{64}$")


class AcceptDelivery(Wire):
    """A verified delivery: `webhook_version` is whose secret verified it (C11), `run_id` is for the run, if any."""

    canonical: Canonical
    webhook_version: str
    run_id: RunIdText


class DeliveryAnswer(Wire):
    """What became of a delivery, and in `note` why, where the outcome leaves that open. A duplicate gets the stored
    outcome and run (R66).
    """

    outcome: Outcome
    note: Note | None = None
    duplicate: bool
    run_id: str | None
    first_seen_at: Moment


class HookAnswer(Wire):
    """What a provider is answered; people read it in its delivery view (C2)."""

    outcome: Outcome
    duplicate: bool
    delivery_id: str
    run_id: str | None
    first_seen_at: Moment
    hint: str


class Delivery(Wire):
    """One recorded delivery. `delivery_id` is the provider's, `id` Anvil's."""

    id: str
    delivery_id: str
    provider: Provider
    flavor: str
    event_kind: EventKind
    event_name: str
    outcome: Outcome
    note: Note | None
    repository_url: str | None
    ref: str | None
    branch: str | None
    commit_sha: str | None
    before_sha: str | None
    run_id: str | None
    received_at: Moment
    decided_at: Moment
    duplicate_count: int
    last_duplicate_at: Moment | None


class DeliveryQuery(PageQuery):
    """`since` is inclusive, `until` exclusive; both are about `received_at`."""

    provider: Provider | None = None
    outcome: Outcome | None = None
    branch: str | None = None
    commit_sha: ShaText | None = None
    since: Moment | None = None
    until: Moment | None = None
