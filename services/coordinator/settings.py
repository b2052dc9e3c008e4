"""What the coordinator is told by its environment."""

from datetime import timedelta
from pathlib import Path
from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from services.coordinator.rules.numbers import Numbers
from services.kernel.settings import DevOnly, ServiceSettings

Callers = frozenset[str]
"""E-mails of the service accounts that may call a group of endpoints."""


class CoordinatorSettings(ServiceSettings):
    """`stale_seconds` must exceed the runners' lease, so that a lost runner's commands are dead before a takeover."""

    store: Annotated[Literal["sqlite"], DevOnly(("sqlite",))]
    """Where everything durable is kept."""
    sqlite_path: Path
    """The store's file."""
    tasks: Annotated[Literal["local"], DevOnly(("local",))]
    """Which task queue tells runners of runs."""
    tasks_url: str
    """Where the task queue is."""
    tasks_audience: str
    """The task queue's audience."""
    hooks_callers: Callers = frozenset()
    """E-mails of those who may verify and record deliveries."""
    console_callers: Callers = frozenset()
    """E-mails of those who may act for people."""
    runner_callers: Callers = frozenset()
    """E-mails of those who may claim and drive runs."""
    tasks_callers: Callers = frozenset()
    """E-mails of those who may deliver tasks."""
    scheduler_callers: Callers = frozenset()
    """E-mails of those who may have everything due looked at."""
    queue_cap: int = Field(default=20, ge=1, le=20)
    """How many runs of a project may wait; the active one does not count."""
    lease_seconds: float = Field(default=30, gt=0)
    """The runners' lease."""
    stale_seconds: float = Field(default=45, gt=0)
    """After how long without a sign of life a runner is declared lost; more than the lease."""
    unclaimed_seconds: float = Field(default=300, gt=0)
    """After how long an executable run that nobody claimed is handed over again."""

    @model_validator(mode="after")
    def _dead_before_takeover(self) -> Self:
        if self.stale_seconds <= self.lease_seconds:
            lease, stale = self.variable("lease_seconds"), self.variable("stale_seconds")
            raise ValueError(f"{stale}: must be more than {lease} ({self.lease_seconds:g} s)")
        return self

    @property
    def numbers(self) -> Numbers:
        return Numbers(
            queue_cap=self.queue_cap,
            stale=timedelta(seconds=self.stale_seconds),
            unclaimed=timedelta(seconds=self.unclaimed_seconds),
        )
