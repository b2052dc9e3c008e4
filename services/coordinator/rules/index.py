"""How the run index follows the runs: which syncs are owed, and what an upsert makes of a row.

The merge is a join: applying any upserts of one run, in any order and any number of times, ends in the same row (R37).
"""

from dataclasses import replace
from datetime import datetime, timedelta

from services.coordinator.records.row import Row
from services.coordinator.records.run import IndexSync, Run
from services.kernel.errors import Conflict
from services.kernel.runs import Status

MOVES: dict[IndexSync, frozenset[IndexSync]] = {
    IndexSync.NEEDS_CREATE: frozenset(
        {IndexSync.CURRENT, IndexSync.NEEDS_UPDATE, IndexSync.NEEDS_TERMINAL_UPDATE},
    ),
    IndexSync.CURRENT: frozenset({IndexSync.NEEDS_UPDATE, IndexSync.NEEDS_TERMINAL_UPDATE}),
    IndexSync.NEEDS_UPDATE: frozenset({IndexSync.CURRENT, IndexSync.NEEDS_TERMINAL_UPDATE}),
    IndexSync.NEEDS_TERMINAL_UPDATE: frozenset({IndexSync.DONE}),
    IndexSync.DONE: frozenset(),
}

_PROGRESS = (
    Status.QUEUED,
    Status.STARTING,
    Status.RUNNING,
    Status.CANCEL_REQUESTED,
    Status.CANCELING,
    Status.PASSED,
    Status.FAILED,
    Status.CANCELED,
)
"""A run only ever goes forward in this order, so of two rows of one run the later one is newer."""


class IllegalIndexMove(Conflict):
    """The index projection cannot go from this state to that one (R31)."""

    code = "illegal_index_move"


def move(current: IndexSync, to: IndexSync) -> IndexSync:
    """`to`, if it is one of the eight moves (R31).

    Raises:
        IllegalIndexMove: it is not; a change after `done` comes too late (R32, C4).
    """
    if to not in MOVES[current]:
        raise IllegalIndexMove(f"the index cannot go from {current} to {to}")
    return to


def owes(run: Run, *, now: datetime) -> Run:
    """The run, its public status or SHA just changed, with the sync that this asks for, due at once."""
    if run.status.terminal:
        wanted = IndexSync.NEEDS_TERMINAL_UPDATE
    elif run.index_sync is IndexSync.NEEDS_TERMINAL_UPDATE:
        wanted = run.index_sync
    else:
        wanted = IndexSync.NEEDS_UPDATE
    sync = run.index_sync if run.index_sync is wanted else move(run.index_sync, wanted)
    return replace(run, index_sync=sync, index_failures=0, timers=replace(run.timers, index=now))


def synced(run: Run) -> Run:
    """The run after its row was written: nothing is owed until it changes again."""
    to = IndexSync.DONE if run.index_sync is IndexSync.NEEDS_TERMINAL_UPDATE else IndexSync.CURRENT
    sync = run.index_sync if run.index_sync is to else move(run.index_sync, to)
    return replace(run, index_sync=sync, index_failures=0, timers=replace(run.timers, index=None))


def put_off(run: Run, *, now: datetime, retries: tuple[timedelta, ...]) -> Run:
    """The run after a sync failed: the next try, later each time, at last every so often for ever."""
    wait = retries[min(run.index_failures, len(retries) - 1)]
    return replace(run, index_failures=run.index_failures + 1, timers=replace(run.timers, index=now + wait))


def truth(run: Run, *, keep: timedelta) -> Row:
    """What the row should say of a run, by what is known now (R33, R34, R36)."""
    return Row(
        run_id=run.run_id,
        project_id=run.project_id,
        project=run.project,
        kind=run.kind,
        trigger=run.trigger,
        actor=run.actor,
        status=run.status,
        branch=run.branch,
        commit_sha=run.commit_sha,
        before_sha=run.before_sha,
        reason=run.reason,
        exit_code=run.exit_code,
        queued_at=run.queued_at,
        started_at=run.started_at,
        finished_at=run.finished_at,
        expires_at=run.queued_at + keep,
    )


def merge(row: Row | None, upsert: Row) -> Row:
    """What is stored when `upsert` meets `row`: an upsert by run id, with nothing to choose between (R29, R41).

    A terminal row keeps its status, times, reason and exit code (R42); a known SHA is never lost or changed (R43).
    """
    if row is None:
        return upsert
    keeps = row.status.terminal or _PROGRESS.index(row.status) >= _PROGRESS.index(upsert.status)
    ahead = row if keeps else upsert
    return replace(ahead, commit_sha=row.commit_sha or upsert.commit_sha)
