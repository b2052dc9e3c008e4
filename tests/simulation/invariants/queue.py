"""Q: who waits, who runs, who owns a run."""

from collections.abc import Iterator
from datetime import timedelta

from services.coordinator.records.project import QueueState
from services.coordinator.records.run import IndexSync
from services.kernel.runs import Reason, Status
from tests.simulation.invariants.step import ENDS, Check, Step

STALE = timedelta(seconds=45)


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


QUEUE: tuple[Check, ...] = (q1, q2, q3, q4, q5, q6, q7, q8, q9, q10, q13, q14, q16, q17)
