"""What holds at every committed state, and of every commit: INVARIANTS Q, S, Y, D and K, each a small function.

The tables of legal moves are written out by hand: a check that imports the product's own would let a wrong one live.
"""

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta

from services.coordinator.records.project import Project, QueueState
from services.coordinator.records.row import Row
from services.coordinator.records.run import IndexSync, Run
from services.kernel.runs import Reason, Status
from services.kernel.wire.deliveries import Outcome
from tests.simulation.state import State
from tests.simulation.testimony import Testimony

STALE = timedelta(seconds=45)
DEDUPE = timedelta(hours=72)

ENDS = frozenset({Status.PASSED, Status.FAILED, Status.CANCELED})
STATUS_MOVES: dict[Status, frozenset[Status]] = {
    Status.QUEUED: frozenset({Status.STARTING, Status.CANCELED, Status.FAILED}),
    Status.STARTING: frozenset({Status.RUNNING, Status.CANCEL_REQUESTED, Status.FAILED}),
    Status.RUNNING: frozenset({Status.CANCEL_REQUESTED, Status.PASSED, Status.FAILED}),
    Status.CANCEL_REQUESTED: frozenset({Status.CANCELING, Status.CANCELED, Status.FAILED}),
    Status.CANCELING: frozenset({Status.CANCELED, Status.FAILED}),
}
SYNC_MOVES: dict[IndexSync, frozenset[IndexSync]] = {
    IndexSync.NEEDS_CREATE: frozenset(
        {IndexSync.CURRENT, IndexSync.NEEDS_UPDATE, IndexSync.NEEDS_TERMINAL_UPDATE},
    ),
    IndexSync.CURRENT: frozenset({IndexSync.NEEDS_UPDATE, IndexSync.NEEDS_TERMINAL_UPDATE}),
    IndexSync.NEEDS_UPDATE: frozenset({IndexSync.CURRENT, IndexSync.NEEDS_TERMINAL_UPDATE}),
    IndexSync.NEEDS_TERMINAL_UPDATE: frozenset({IndexSync.DONE}),
}


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


def q1(step: Step) -> Iterator[str]:
    """At most one active run, which the project names."""
    for project in step.after.projects.values():
        active = {run.run_id for run in step.after.owned_by(project) if run.status not in (Status.QUEUED, *ENDS)}
        named = project.active
        if named is None or named.lock_held:
            expected: set[str] = set()
        else:
            expected = {named.run_id}
        if active != expected:
            yield f"active are {sorted(active)}, {project.slug} names {sorted(expected)}"
        if named is not None and named.lock_held and step.after.runs[named.run_id].status not in ENDS:
            yield f"{named.run_id} only holds the lock, but is {step.after.runs[named.run_id].status}"


def q2(step: Step) -> Iterator[str]:
    """No more than the cap wait, and those that wait are those that are queued."""
    for project in step.after.projects.values():
        queued = {run.run_id for run in step.after.owned_by(project) if run.status is Status.QUEUED}
        if len(queued) > step.cap:
            yield f"{len(queued)} wait in {project.slug}"
        if queued != {entry.run_id for entry in project.queue}:
            yield f"queued are {sorted(queued)}, not those in the queue of {project.slug}"


def q3(step: Step) -> Iterator[str]:
    """A position exactly while the run waits."""
    for run in step.after.runs.values():
        if (run.position is not None) != (run.status is Status.QUEUED):
            yield f"{run.run_id} is {run.status} at position {run.position}"


def q4(step: Step) -> Iterator[str]:
    """Positions grow in the order of acceptance and are never given twice."""
    for was, project in step.projects():
        positions = [entry.position for entry in project.queue]
        known = {entry.run_id for entry in was.queue}
        fresh = [entry.position for entry in project.queue if entry.run_id not in known]
        if positions != sorted(set(positions)) or any(position >= project.next_position for position in positions):
            yield f"the positions of {project.slug} are {positions}, the next is {project.next_position}"
        if any(position < was.next_position for position in fresh) or project.next_position < was.next_position:
            yield f"{fresh} was given again in {project.slug}"
        for entry in project.queue:
            if step.after.runs[entry.run_id].position != entry.position:
                yield f"{entry.run_id} and its queue say different positions"


def q5(step: Step) -> Iterator[str]:
    """A position changes to null, once, and to nothing else."""
    for was, run in step.moved():
        if run.position not in (was.position, None):
            yield f"{run.run_id} moved from position {was.position} to {run.position}"


def q6(step: Step) -> Iterator[str]:
    """The first that waits starts first."""
    for was, run in step.moved():
        if was.status is Status.QUEUED and run.status is Status.STARTING:
            ahead = [
                entry.run_id
                for entry in step.before.projects[run.project_id].queue
                if was.position is not None and entry.position < was.position
            ]
            if ahead:
                yield f"{run.run_id} started before {ahead}"


def q7(step: Step) -> Iterator[str]:
    """The lock is given back only by a runner whose sandbox is gone, or to a takeover; then the run has ended."""
    for was, project in step.projects():
        if was.active is None or (project.active is not None and project.active.run_id == was.active.run_id):
            continue
        run = step.after.runs[was.active.run_id]
        if run.status not in ENDS:
            yield f"{run.run_id} lost the lock of {project.slug} while {run.status}"
        if run.attempt_hash is not None and run.run_id not in step.testimony.torn_down:
            yield f"{run.run_id} gave the lock back before its sandbox was gone"
    for project in step.after.projects.values():
        executable = [entry.run_id for entry in project.queue if entry.state is QueueState.EXECUTABLE]
        expected = [entry.run_id for entry in project.queue[:1]] if project.active is None else []
        if executable != expected:
            yield f"executable in {project.slug} is {executable}, not {expected}"


def q8(step: Step) -> Iterator[str]:
    """A takeover only of a stale attempt, after which no lease is left that it could renew."""
    for was, run in step.moved():
        lease = step.before.leases.get(run.run_id)
        if was.attempt_hash is not None and run.attempt_hash is None and lease and step.at - lease.at <= STALE:
            yield f"{run.run_id} was taken over {step.at - lease.at} after its last sign of life"
    for run_id, lease in step.after.leases.items():
        project = step.after.projects.get(step.after.runs[run_id].project_id)
        active = None if project is None else project.active
        if active is None or active.run_id != run_id:
            yield f"{run_id} has a lease, but is not active"
        elif lease.attempt_hash not in (step.after.runs[run_id].attempt_hash, ""):
            yield f"the lease of {run_id} is another attempt's"
    for was_active in step.after.runs.values():
        if was_active.status not in (Status.QUEUED, *ENDS) and was_active.run_id not in step.after.leases:
            yield f"{was_active.run_id} is {was_active.status} without a lease"


def q9(step: Step) -> Iterator[str]:
    """Passed only if that was reported."""
    for run in step.after.runs.values():
        told = step.testimony.reported.get(run.run_id, set())
        if run.status is Status.PASSED and (run.result is None or Status.PASSED not in told):
            yield f"{run.run_id} passed, its runner said {sorted(told)}"
        if run.reason is Reason.RUNNER_LOST and run.result is not None:
            yield f"{run.run_id} is lost though it reported {run.result.status}"


def q10(step: Step) -> Iterator[str]:
    """Whatever must happen next is written down with what asks for it: the transactional outbox."""
    for run in step.after.runs.values():
        project = step.after.projects.get(run.project_id)
        entry = None if project is None else project.queued(run.run_id)
        executable = entry is not None and entry.state is QueueState.EXECUTABLE
        holds = project is not None and project.active is not None and project.active.run_id == run.run_id
        owes = run.index_sync not in (IndexSync.CURRENT, IndexSync.DONE)
        if (run.timers.dispatch is not None) != executable:
            yield f"{run.run_id} is dispatched at {run.timers.dispatch}, executable: {executable}"
        if holds and run.timers.watchdog is None:
            yield f"nobody watches {run.run_id}"
        if owes and run.timers.index is None:
            yield f"{run.run_id} is {run.index_sync}, but nobody looks"


def q13(step: Step) -> Iterator[str]:
    """One attempt at most is ever told to execute a run, and a run that waits belongs to none."""
    for run_id, tokens in step.testimony.winners.items():
        if len(tokens) > 1:
            yield f"{run_id} was given to {len(tokens)} attempts"
    for was, run in step.moved():
        if was.attempt_hash not in (None, run.attempt_hash) and run.attempt_hash is not None:
            yield f"{run.run_id} changed hands"


def q14(step: Step) -> Iterator[str]:
    """A run's commands begin at most once."""
    for run_id, times in step.testimony.executed.items():
        if times > 1:
            yield f"the commands of {run_id} began {times} times"


def q16(step: Step) -> Iterator[str]:
    """A run that was refused does not exist."""
    for run_id in step.testimony.refused & step.after.runs.keys():
        yield f"{run_id} was refused, and is there"


def q17(step: Step) -> Iterator[str]:
    """One commit is about one project."""
    changed = {ref for ref, data in step.after.documents.items() if step.before.documents.get(ref) is not data}
    owners = {str(data["project_id"]) for ref in changed if "project_id" in (data := step.after.documents[ref])}
    if len(owners) > 1:
        yield f"one commit wrote for {sorted(owners)}"


def s2(step: Step) -> Iterator[str]:
    """A status moves as the table says; an end is an end (S3)."""
    for was, run in step.moved():
        if run.status is not was.status and run.status not in STATUS_MOVES.get(was.status, frozenset()):
            yield f"{run.run_id} went from {was.status} to {run.status}"


def s3(step: Step) -> Iterator[str]:
    """Nothing that counts changes in a run that has ended."""
    for was, run in step.moved():
        if was.status in ENDS and _outcome(was) != _outcome(run):
            yield f"{run.run_id} ended as {_outcome(was)}, and is now {_outcome(run)}"


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
        if settled and (row is None or _outcome(row) != _outcome(run) or row.commit_sha != run.commit_sha):
            yield f"{run.run_id} is {run.index_sync} and {run.status}, its row {row and row.status}"


def y6(step: Step) -> Iterator[str]:
    """A row that has ended stays so, and a known commit stays known (Y7)."""
    for run_id, row in step.after.rows.items():
        was = step.before.rows.get(run_id)
        if was is not None and was.status in ENDS and _outcome(was) != _outcome(row):
            yield f"the row of {run_id} went from {_outcome(was)} to {_outcome(row)}"
        if was is not None and was.commit_sha not in (None, row.commit_sha):
            yield f"the row of {run_id} lost commit {was.commit_sha}"


def d4(step: Step) -> Iterator[str]:
    """Within 72 hours an outcome changes from `queue_full` to `accepted` alone (D9)."""
    for row_id, row in step.after.deliveries.items():
        was = step.before.deliveries.get(row_id)
        if was is None or (was.outcome is row.outcome and was.run_id == row.run_id):
            continue
        allowed = was.outcome is Outcome.QUEUE_FULL and row.outcome is Outcome.ACCEPTED
        if step.at < was.expires_at and not allowed:
            yield f"{row_id} went from {was.outcome} {was.run_id} to {row.outcome} {row.run_id}"
    for row_id in step.before.deliveries.keys() - step.after.deliveries.keys():
        yield f"{row_id} was deleted"


def d6(step: Step) -> Iterator[str]:
    """Accepted means a run and its push, written together (D8); no delivery becomes two runs in 72 hours (D7)."""
    for row_id, row in step.after.deliveries.items():
        if (row.run_id is not None) != (row.outcome is Outcome.ACCEPTED):
            yield f"{row_id} is {row.outcome} with run {row.run_id}"
        if row.run_id is not None and not (row.run_id in step.after.runs and row.run_id in step.after.ref_events):
            yield f"{row_id} is accepted, but {row.run_id} or its push is not there"
        if row.expires_at != row.decided_at + DEDUPE:
            yield f"{row_id} was decided at {row.decided_at} and expires at {row.expires_at}"
    made = Counter(
        run.delivery_id
        for run in step.after.runs.values()
        if run.source_run_id is None and run.delivery_id is not None and step.at - run.queued_at < DEDUPE
    )
    for row_id, times in made.items():
        if times > 1:
            yield f"{row_id} became {times} runs"


def d7(step: Step) -> Iterator[str]:
    """All who were answered about one delivery within 72 hours were told of one run."""
    told: dict[tuple[str, str], tuple[datetime, str]] = {}
    for each in step.testimony.answers:
        if each.answer.run_id is None:
            continue
        since, run_id = told.setdefault(each.key, (each.answer.first_seen_at, each.answer.run_id))
        if run_id != each.answer.run_id:
            if each.at - since < DEDUPE:
                yield f"{each.key} was told of {run_id} and of {each.answer.run_id}"
            told[each.key] = (each.answer.first_seen_at, each.answer.run_id)


def k4(step: Step) -> Iterator[str]:
    """A webhook's secret is the one sent for it; only a rotation that named it replaces it (K5)."""
    for was, project in step.projects():
        for provider, webhook in project.webhooks.items():
            old = was.webhooks.get(provider)
            if old is None or old.secret == webhook.secret:
                continue
            if webhook.secret.secret_id != f"secret-{webhook.version}":
                yield f"{provider} at {webhook.version} has {webhook.secret.secret_id}"
            if step.testimony.rotations.get(webhook.version) != old.version:
                yield f"{provider} went from {old.version} to {webhook.version}, which nobody asked for"


CHECKS: tuple[Check, ...] = (
    q1, q2, q3, q4, q5, q6, q7, q8, q9, q10, q13, q14, q16, q17, s2, s3, s4, s6, y1, y4, y6, d4, d6, d7, k4,
)  # fmt: skip


def check_all(step: Step) -> list[str]:
    """What is wrong, each with the invariant's id."""
    return [f"{check.__name__.upper()}: {found}" for check in CHECKS for found in check(step)]


def check_end(state: State, testimony: Testimony) -> list[str]:
    """What must be reached once faults are off (Q11, Y9), and that nobody who was acknowledged is missing."""
    found = [f"Q11: {run.run_id} is {run.status}" for run in state.runs.values() if run.status not in ENDS]
    found += [
        f"Y9: {run.run_id} is {run.status} and {run.index_sync}"
        for run in state.runs.values()
        if run.index_sync is not IndexSync.DONE
    ]
    found += [f"Q11: {run_id} was acknowledged and is not there" for run_id in testimony.acked - state.runs.keys()]
    return found


def _outcome(of: Run | Row) -> tuple[object, ...]:
    return of.status, of.reason, of.started_at, of.finished_at, of.exit_code
