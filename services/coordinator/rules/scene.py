"""What one decision about a run sees and changes: the run, its project, its attempt's lease, and who is next."""

from dataclasses import dataclass, replace
from datetime import datetime

from services.coordinator.records.project import Project
from services.coordinator.records.run import Heartbeat, Run
from services.coordinator.rules import index, queue


@dataclass(frozen=True, slots=True, kw_only=True)
class Scene:
    """`successor` is the run that becomes executable if this one leaves (`queue.successor`).

    `heartbeat` None in a decision's result means: no attempt may renew a lease any more.
    """

    project: Project
    run: Run
    heartbeat: Heartbeat | None = None
    successor: Run | None = None

    def with_run(self, run: Run, *, now: datetime) -> "Scene":
        """The scene with a run whose public status or SHA changed."""
        return replace(self, run=index.owes(run, now=now))

    def with_project(self, project: Project, *, now: datetime) -> "Scene":
        """The scene with another queue; a run that just became executable is to be dispatched at once."""
        successor = self.successor
        if successor is not None and queue.executable(project) == successor.run_id:
            due = successor.timers.dispatch or now
            successor = replace(successor, timers=replace(successor.timers, dispatch=due))
        return replace(self, project=project, successor=successor)
