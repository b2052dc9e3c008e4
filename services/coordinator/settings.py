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
    sqlite_path: Path
    tasks: Annotated[Literal["local"], DevOnly(("local",))]
    tasks_url: str
    tasks_audience: str
    hooks_callers: Callers = frozenset()
    console_callers: Callers = frozenset()
    runner_callers: Callers = frozenset()
    tasks_callers: Callers = frozenset()
    scheduler_callers: Callers = frozenset()
    queue_cap: int = Field(default=20, ge=1, le=20)
    lease_seconds: float = Field(default=30, gt=0)
    stale_seconds: float = Field(default=45, gt=0)
    unclaimed_seconds: float = Field(default=300, gt=0)

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
