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
    """`work_dir` is this process's alone: whatever is in it is deleted at the start."""

    coordinator_url: str
    coordinator_audience: str
    tasks_callers: frozenset[str] = frozenset()
    work_dir: Path
    sandbox: Annotated[Literal["process"], DevOnly(("process",))]
    allow_local_repositories: Annotated[bool, DevOnly()] = False
    heartbeat_seconds: float = Field(default=10, gt=0)
    lease_seconds: float = Field(default=30, gt=0)
    stale_seconds: float = Field(default=45, gt=0)
    run_seconds: int = Field(default=900, ge=1, le=int(MAX_TIMEOUT.total_seconds()))
    checkout_seconds: float = Field(default=300, gt=0)
    grace_seconds: float = Field(default=30, ge=0)
    log_line_bytes: int = Field(default=64 * KIB, ge=KIB, le=64 * KIB)
    log_head_bytes: int = Field(default=7936 * KIB, ge=0, le=7936 * KIB)
    log_tail_bytes: int = Field(default=256 * KIB, ge=KIB, le=256 * KIB)

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
