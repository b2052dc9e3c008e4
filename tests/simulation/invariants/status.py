"""S: what a run goes through. The moves are written out by hand, so that a wrong one of the product's does not live."""

from collections.abc import Iterator

from services.kernel.runs import Status
from tests.simulation.invariants.step import ENDS, Check, Step, outcome

STATUS_MOVES: dict[Status, frozenset[Status]] = {
    Status.QUEUED: frozenset({Status.STARTING, Status.CANCELED, Status.FAILED}),
    Status.STARTING: frozenset({Status.RUNNING, Status.CANCEL_REQUESTED, Status.FAILED}),
    Status.RUNNING: frozenset({Status.CANCEL_REQUESTED, Status.PASSED, Status.FAILED}),
    Status.CANCEL_REQUESTED: frozenset({Status.CANCELING, Status.CANCELED, Status.FAILED}),
    Status.CANCELING: frozenset({Status.CANCELED, Status.FAILED}),
}


def s2(step: Step) -> Iterator[str]:
    """A status moves as the table says; an end is an end (S3)."""
    for was, run in step.moved():
        if run.status is not was.status and run.status not in STATUS_MOVES.get(was.status, frozenset()):
            yield f"{run.run_id} went from {was.status} to {run.status}"


def s3(step: Step) -> Iterator[str]:
    """Nothing that counts changes in a run that has ended."""
    for was, run in step.moved():
        if was.status in ENDS and outcome(was) != outcome(run):
            yield f"{run.run_id} ended as {outcome(was)}, and is now {outcome(run)}"


def s4(step: Step) -> Iterator[str]:
    """Times in order, an end exactly for what has ended, exit code 0 for what passed."""
    for run in step.after.runs.values():
        times = [at for at in (run.queued_at, run.started_at, run.finished_at) if at is not None]
        if times != sorted(times) or (run.finished_at is not None) != (run.status in ENDS):
            yield f"{run.run_id} is {run.status} with the times {times}"
        if run.status is Status.PASSED and run.exit_code != 0:
            yield f"{run.run_id} passed with exit code {run.exit_code}"
        if run.exit_code is not None and run.status not in ENDS:
            yield f"{run.run_id} is {run.status} with exit code {run.exit_code}"


def s6(step: Step) -> Iterator[str]:
    """A commit is set once and stays (S5, S6, R43); it is the one that was checked out."""
    for was, run in step.moved():
        if was.commit_sha not in (None, run.commit_sha):
            yield f"{run.run_id} was of {was.commit_sha}, now of {run.commit_sha}"
        out = step.testimony.checked_out.get(run.run_id)
        if was.commit_sha is None and run.commit_sha is not None and run.commit_sha != out:
            yield f"{run.run_id} has commit {run.commit_sha}, checked out was {out}"
    for run in step.after.runs.values():
        if run.pinned and run.commit_sha is None:
            yield f"{run.run_id} is pinned to nothing"


STATUS: tuple[Check, ...] = (s2, s3, s4, s6)
