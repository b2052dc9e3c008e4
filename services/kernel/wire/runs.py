"""Messages about runs: how they are asked for, claimed, driven and shown."""

from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from services.kernel.runs import Directive, Kind, Reason, Status, Trigger, Verdict
from services.kernel.wire.model import BranchText, Moment, RunIdText, ShaText, Wire

AttemptToken = Annotated[str, Field(min_length=22, max_length=64, pattern=r"^[A-Za-z0-9_-]+$")]
"""The capability of one attempt: 128 random bits made by the runner. The coordinator stores its hash only."""

IdempotencyKey = Annotated[str, Field(min_length=1, max_length=255, pattern=r"^[\x21-\x7e]+$")]


# What people see


class Run(Wire):
    """One run. `started_at` is the claim; `position` is null once the run is no longer queued (R22)."""

    run_id: str
    project: str
    kind: Kind
    trigger: Trigger
    actor: str | None
    status: Status
    position: int | None
    branch: str
    commit_sha: str | None
    before_sha: str | None
    reason: Reason | None
    queued_at: Moment
    started_at: Moment | None
    finished_at: Moment | None
    exit_code: int | None


class StepStatus(Wire):
    """One step of `.anvil.yml`, in order. A step that never began has no times."""

    name: str
    status: Literal["pending", "running", "passed", "failed", "canceled", "skipped"]
    exit_code: int | None = None
    started_at: Moment | None = None
    finished_at: Moment | None = None


class RunView(Wire):
    """A run with what belongs to it. `detail` tells people in a sentence why it ended; `place` counts from 1 = next."""

    run: Run
    steps: tuple[StepStatus, ...]
    reason: Reason | None
    detail: str | None
    place: int | None
    log_tail: tuple[str, ...]
    links: dict[str, str]


class Started(Wire):
    """A run was accepted into the queue."""

    run_id: str
    url: str


class StartRun(Wire):
    """A manual run of a branch; the project's default branch if none is named (R13)."""

    branch: BranchText | None = None


class LogPart(Wire):
    """A stretch of a run's log from byte `after`; `cursor` is where the next one begins."""

    text: str
    cursor: int
    complete: bool


# Asking for a run


class AcceptRun(Wire):
    """Queue a manual run, or a rerun of `source`.

    `run_id` is the caller's own, so that asking again gives the same run. With an idempotency key the identity comes
    from the key instead, and another request under the same key is refused (C16).
    """

    run_id: RunIdText
    branch: BranchText | None = None
    source: RunIdText | None = None
    idempotency_key: IdempotencyKey | None = None
    actor: str


class RunAccepted(Wire):
    run_id: str


class CancelRun(Wire):
    """Ask for the end of a run. Doing so twice, or when it has ended, changes nothing."""

    actor: str


# The life of an attempt


class Claim(Wire):
    """A runner asks to execute a run, under a token of its own."""

    attempt: AttemptToken = Field(repr=False)


class Job(Wire):
    """What a runner needs to execute a run. `commit_sha` is null for a run of a branch head (R13)."""

    run_id: str
    project: str
    project_id: str
    repository_url: str
    config_path: str
    branch: str
    commit_sha: str | None
    claimed_at: Moment


class ClaimAnswer(Wire):
    """`job` is there exactly when the verdict is `execute`."""

    verdict: Verdict
    job: Job | None = None


class Start(Wire):
    """The commit is checked out; commands may begin once this is accepted (R15)."""

    attempt: AttemptToken = Field(repr=False)
    commit_sha: ShaText


class Heartbeat(Wire):
    """The attempt lives; renews its lease. `steps` is how far it is, for people."""

    attempt: AttemptToken = Field(repr=False)
    steps: tuple[StepStatus, ...] | None = None


class Orders(Wire):
    """The answer to start and heartbeat."""

    directive: Directive


class LogChunk(Wire):
    """At most 64 KiB of UTF-8 text. `seq` counts chunks from 0, `first_line` lines from 1, `offset` bytes from 0."""

    seq: int = Field(ge=0)
    first_line: int = Field(ge=1)
    offset: int = Field(ge=0)
    text: str
    sha256: str = Field(pattern=r"^[0-9a-f]{64}$")


class AppendLog(Wire):
    attempt: AttemptToken = Field(repr=False)
    chunks: tuple[LogChunk, ...] = Field(min_length=1, max_length=16)


class Report(Wire):
    """How the run ended. The first report stands; a cancel that came before it wins (C27).

    A run has passed exactly if its last command ended with 0, or there was none.
    """

    attempt: AttemptToken = Field(repr=False)
    status: Literal[Status.PASSED, Status.FAILED, Status.CANCELED]
    reason: Reason | None = None
    detail: str | None = Field(default=None, max_length=2000)
    exit_code: int | None = None
    steps: tuple[StepStatus, ...] = Field(default=(), max_length=20)

    @model_validator(mode="after")
    def _passed_with_zero(self) -> Self:
        if self.status is Status.PASSED and self.exit_code != 0:
            raise ValueError("a run that passed has exit code 0")
        return self


class Complete(Wire):
    """The sandbox is gone, or could not be torn down (C9)."""

    attempt: AttemptToken = Field(repr=False)
    teardown_complete: bool


# Tasks


class RunTask(Wire):
    """A hint that a run may be executable. `dispatch` numbers the attempts to hand it over."""

    run: RunIdText
    dispatch: int = Field(ge=1)


class ReconcileTask(Wire):
    """A hint that somebody should look at a run."""

    run: RunIdText


class Swept(Wire):
    """How many due documents a sweep looked at, and how many of them failed and were put off."""

    looked_at: int
    failed: int
