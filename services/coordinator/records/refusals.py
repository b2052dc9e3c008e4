"""A project's refused deliveries (`refusals/{project}`): the one document that unverified traffic may change (C26)."""

from dataclasses import dataclass, field
from datetime import datetime

from services.coordinator.records.table import Table
from services.kernel.ids import ProjectId


@dataclass(frozen=True, slots=True, kw_only=True)
class Tally:
    """One webhook's refusals by reason, counted from the rotation at `since`."""

    since: datetime
    last_at: datetime
    counts: dict[str, int] = field(default_factory=dict[str, int])


@dataclass(frozen=True, slots=True, kw_only=True)
class Refusals:
    """Keyed by provider."""

    project_id: ProjectId
    tallies: dict[str, Tally] = field(default_factory=dict[str, Tally])


REFUSALS = Table("refusals", Refusals, schema=1)
