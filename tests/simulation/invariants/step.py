"""One commit, as the invariants look at it. A check is a small function, named by the id of what it checks."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime

from services.coordinator.records.project import Project
from services.coordinator.records.row import Row
from services.coordinator.records.run import Run
from services.kernel.runs import Status
from tests.simulation.state import State
from tests.simulation.testimony import Testimony

ENDS = frozenset({Status.PASSED, Status.FAILED, Status.CANCELED})


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One commit: what was stored before and after it, when, and what callers had said by then."""

    before: State
    after: State
    at: datetime
    testimony: Testimony
    cap: int

    def moved(self) -> Iterator[tuple[Run, Run]]:
        for run_id, run in self.after.runs.items():
            if (was := self.before.runs.get(run_id)) is not None and was != run:
                yield was, run

    def projects(self) -> Iterator[tuple[Project, Project]]:
        for project_id, project in self.after.projects.items():
            if (was := self.before.projects.get(project_id)) is not None and was != project:
                yield was, project


Check = Callable[[Step], Iterator[str]]


def outcome(of: Run | Row) -> tuple[object, ...]:
    """What never changes again in what has ended (S3, Y6)."""
    return of.status, of.reason, of.started_at, of.finished_at, of.exit_code
