"""The project queue: who waits, who runs, who is next.

A project has at most one active run and at most `cap` queued ones (C3); the queued run with the smallest position is
next (R23). Positions come from a counter that never goes back (C14), so gaps are normal and nothing is renumbered
(R20).
"""

from dataclasses import replace
from datetime import datetime

from services.coordinator.records.project import Active, Project, QueueEntry, QueueState
from services.kernel.errors import QueueFull
from services.kernel.ids import CommitSha, RunId


def accept(
    project: Project, run_id: RunId, *, branch: str, commit_sha: CommitSha | None, now: datetime, cap: int
) -> Project:
    """Put a run at the end of the queue; executable at once if nobody is ahead of it.

    Raises:
        QueueFull: `cap` runs wait already (R44).
    """
    if len(project.queue) >= cap:
        raise QueueFull(f"{len(project.queue)} of {cap} runs of {project.slug} wait already")
    entry = QueueEntry(
        run_id=run_id,
        position=project.next_position,
        state=QueueState.PENDING,
        branch=branch,
        commit_sha=commit_sha,
        queued_at=now,
    )
    return promote(replace(project, queue=(*project.queue, entry), next_position=project.next_position + 1))


def claim(project: Project, active: Active) -> Project:
    """Make a queued run the active one; it has no position from now on (R22)."""
    return replace(_without(project, active.run_id), active=active)


def leave(project: Project, run_id: RunId) -> Project:
    """Take a run out of the queue; if it was executable the next one is, for no run is active (C28)."""
    return promote(_without(project, run_id))


def release(project: Project) -> Project:
    """Give the lock back and promote. Only after teardown or a takeover (R24)."""
    return promote(replace(project, active=None))


def successor(project: Project, run_id: RunId) -> RunId | None:
    """Who would be executable next if this run were not there."""
    return next((entry.run_id for entry in project.queue if entry.run_id != run_id), None)


def executable(project: Project) -> RunId | None:
    """The one run that a runner may claim."""
    return next((entry.run_id for entry in project.queue if entry.state is QueueState.EXECUTABLE), None)


def promote(project: Project) -> Project:
    """Make the first queued run executable, if no run is active."""
    if project.active is not None or not project.queue:
        return project
    first, *others = project.queue
    return replace(project, queue=(replace(first, state=QueueState.EXECUTABLE), *others))


def _without(project: Project, run_id: RunId) -> Project:
    return replace(project, queue=tuple(entry for entry in project.queue if entry.run_id != run_id))
