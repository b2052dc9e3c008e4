"""Y: the run index follows the runs. Its moves are written out by hand, as those of the runs."""

from collections.abc import Iterator

from services.coordinator.records.run import IndexSync
from tests.simulation.invariants.step import ENDS, Check, Step, outcome

SYNC_MOVES: dict[IndexSync, frozenset[IndexSync]] = {
    IndexSync.NEEDS_CREATE: frozenset(
        {IndexSync.CURRENT, IndexSync.NEEDS_UPDATE, IndexSync.NEEDS_TERMINAL_UPDATE},
    ),
    IndexSync.CURRENT: frozenset({IndexSync.NEEDS_UPDATE, IndexSync.NEEDS_TERMINAL_UPDATE}),
    IndexSync.NEEDS_UPDATE: frozenset({IndexSync.CURRENT, IndexSync.NEEDS_TERMINAL_UPDATE}),
    IndexSync.NEEDS_TERMINAL_UPDATE: frozenset({IndexSync.DONE}),
}


def y1(step: Step) -> Iterator[str]:
    """The index projection moves as the table says (Y3); the commit that ends a run owes that to its row (Y2)."""
    for was, run in step.moved():
        if run.index_sync is not was.index_sync and run.index_sync not in SYNC_MOVES.get(was.index_sync, frozenset()):
            yield f"{run.run_id} went from {was.index_sync} to {run.index_sync}"
        if run.status in ENDS and was.status not in ENDS and run.index_sync is not IndexSync.NEEDS_TERMINAL_UPDATE:
            yield f"{run.run_id} ended with {run.index_sync}"
    for run_id in step.after.runs.keys() - step.before.runs.keys():
        if step.after.runs[run_id].index_sync is not IndexSync.NEEDS_CREATE:
            yield f"{run_id} began with {step.after.runs[run_id].index_sync}"


def y4(step: Step) -> Iterator[str]:
    """Where nothing is owed the row is the truth (Y3, Y4, Y9)."""
    for run in step.after.runs.values():
        row = step.after.rows.get(run.run_id)
        settled = run.index_sync in (IndexSync.CURRENT, IndexSync.DONE)
        if settled and (row is None or outcome(row) != outcome(run) or row.commit_sha != run.commit_sha):
            yield f"{run.run_id} is {run.index_sync} and {run.status}, its row {row and row.status}"


def y6(step: Step) -> Iterator[str]:
    """A row that has ended stays so, and a known commit stays known (Y7)."""
    for run_id, row in step.after.rows.items():
        was = step.before.rows.get(run_id)
        if was is not None and was.status in ENDS and outcome(was) != outcome(row):
            yield f"the row of {run_id} went from {outcome(was)} to {outcome(row)}"
        if was is not None and was.commit_sha not in (None, row.commit_sha):
            yield f"the row of {run_id} lost commit {was.commit_sha}"


INDEX: tuple[Check, ...] = (y1, y4, y6)
