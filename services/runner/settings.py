"""What the runner is told by its environment."""

from datetime import timedelta
from pathlib import Path
from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from services.kernel.settings import DevOnly, ServiceSettings
from services.runner.logs import LogLimits
from services.runner.numbers import Numbers
from services.runner.pipeline.model import MAX_TIMEOUT

KIB = 1024


class RunnerSettings(ServiceSettings):
    """What the runner is told besides."""

    coordinator_url: str
    """Where the coordinator is."""
    coordinator_audience: str
    """The coordinator's audience."""
    tasks_callers: frozenset[str] = frozenset()
    """E-mails of those who may hand over runs."""
    work_dir: Path
    """Where runs are checked out. This process's alone: runs that lie in it are deleted at the start."""
    sandbox: Annotated[Literal["process"], DevOnly(("process",))]
    """What stands between commands and the machine; `process` is no isolation."""
    allow_local_repositories: Annotated[bool, DevOnly()] = False
    """Whether `file://` and `http://` repositories are fetched."""
    heartbeat_seconds: float = Field(default=10, gt=0)
    """How often a run's runner gives a sign of life; less than the lease."""
    lease_seconds: float = Field(default=30, gt=0)
    """After how long without an accepted sign of life the commands are killed."""
    stale_seconds: float = Field(default=45, gt=0)
    """The coordinator's, to be held against the lease; more than it."""
    run_seconds: int = Field(default=900, ge=1, le=int(MAX_TIMEOUT.total_seconds()))
    """The limit of a run whose pipeline file names none, from claim to teardown."""
    checkout_seconds: float = Field(default=300, gt=0)
    """The limit of one git command."""
    grace_seconds: float = Field(default=30, ge=0)
    """The time between SIGTERM and SIGKILL."""
    log_line_bytes: int = Field(default=64 * KIB, ge=KIB, le=64 * KIB)
    """The longest line of a log."""
    log_head_bytes: int = Field(default=7936 * KIB, ge=0, le=7936 * KIB)
    """How much of a log is kept from its beginning."""
    log_tail_bytes: int = Field(default=256 * KIB, ge=KIB, le=256 * KIB)
    """How much of a longer log is kept from its end."""

    @model_validator(mode="after")
    def _dead_before_takeover(self) -> Self:
        if not self.heartbeat_seconds < self.lease_seconds < self.stale_seconds:
            names = [self.variable(name) for name in ("heartbeat_seconds", "lease_seconds", "stale_seconds")]
            raise ValueError(f"{' < '.join(names)}: must hold")
        return self

    @property
    def numbers(self) -> Numbers:
        return Numbers(
            heartbeat=timedelta(seconds=self.heartbeat_seconds),
            lease=timedelta(seconds=self.lease_seconds),
            run=timedelta(seconds=self.run_seconds),
            checkout=timedelta(seconds=self.checkout_seconds),
            grace=timedelta(seconds=self.grace_seconds),
            log=LogLimits(line=self.log_line_bytes, head=self.log_head_bytes, tail=self.log_tail_bytes),
        )
