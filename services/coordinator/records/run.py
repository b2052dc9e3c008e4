"""A run (`runs/{run}`), the sign of life of its attempt (`heartbeats/{run}`) and its log (`runs/{run}/log/{seq}`)."""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from services.coordinator.records.table import Table
from services.kernel.ids import CommitSha, DeliveryRowId, ProjectId, RunId, Slug
from services.kernel.ports import Document
from services.kernel.runs import Kind, Reason, Status, Trigger


class IndexSync(StrEnum):
    """How far the index projection follows this run (R30)."""

    NEEDS_CREATE = "needs_create"
    CURRENT = "current"
    NEEDS_UPDATE = "needs_update"
    NEEDS_TERMINAL_UPDATE = "needs_terminal_update"
    DONE = "done"


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """How one step went, as the runner says."""

    name: str
    status: str
    exit_code: int | None = None
    started_at: datetime | None = None
    finished_at: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """What the runner reported before it tore its sandbox down; the first one stands."""

    status: Status
    reason: Reason | None
    detail: str | None
    exit_code: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Timers:
    """When somebody must look at the run again, per obligation; None: nothing is open.

    Written in the same commit as the state that needs it, this is the transactional outbox.
    """

    dispatch: datetime | None = None
    watchdog: datetime | None = None
    index: datetime | None = None

    @property
    def earliest(self) -> datetime | None:
        """The run's `attention_at`."""
        return min((at for at in (self.dispatch, self.watchdog, self.index) if at is not None), default=None)


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """Public status only: whether a queued run is executable is known to its project's queue.

    `pinned`: the commit was fixed at acceptance (R10, R11). `attempt_hash` is the SHA-256 of the owner's token; a
    takeover clears it, so that nobody owns the run any more. `dispatch` numbers the hand-overs, `rejections` those that
    the task queue refused in a row. `ref_event_id` names the push that this run belongs to.
    """

    run_id: RunId
    project_id: ProjectId
    project: Slug
    kind: Kind
    trigger: Trigger
    actor: str | None
    status: Status
    position: int | None
    branch: str
    commit_sha: CommitSha | None
    pinned: bool
    before_sha: CommitSha | None = None
    delivery_id: DeliveryRowId | None = None
    ref_event_id: str | None = None
    source_run_id: RunId | None = None
    request_fingerprint: str | None = None
    attempt_hash: str | None = None
    result: Result | None = None
    steps: tuple[Step, ...] = ()
    reason: Reason | None = None
    detail: str | None = None
    exit_code: int | None = None
    queued_at: datetime
    started_at: datetime | None = None
    finished_at: datetime | None = None
    index_sync: IndexSync = IndexSync.NEEDS_CREATE
    index_failures: int = 0
    dispatch: int = 1
    rejections: int = 0
    timers: Timers
    expires_at: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Heartbeat:
    """The lease of the attempt that owns a run: `at` is when it was last renewed, by the coordinator's clock."""

    attempt_hash: str
    at: datetime
    steps: tuple[Step, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class LogChunk:
    """At most 64 KiB of the log: bytes `offset` up to, not including, `end`. Created once, never changed."""

    seq: int
    first_line: int
    offset: int
    end: int
    text: str
    sha256: str
    expires_at: datetime


def _attention(run: Run) -> Document:
    return {"attention_at": run.timers.earliest}


RUNS = Table("runs", Run, schema=1, derived=_attention)
HEARTBEATS = Table("heartbeats", Heartbeat, schema=1)
_LOGS = Table("runs/*/log", LogChunk, schema=1)


def log_of(run_id: RunId) -> Table[LogChunk]:
    return _LOGS.at(f"runs/{run_id}/log")


def log_chunk_id(seq: int) -> str:
    return f"{seq:08d}"
