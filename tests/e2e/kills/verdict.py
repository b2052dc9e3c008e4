"""What is wrong after a round, by what is stored, what the commands really did, and what everybody was told.

Pure.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from services.coordinator.records.run import Run
from services.kernel.runs import Reason, Status
from tests.e2e.kills import record
from tests.e2e.kills.load import Load
from tests.e2e.kills.record import Effect
from tests.e2e.kills.site import Site
from tests.history import conservation, queue_order
from tests.history.conservation import Read
from tests.history.queue_order import Accepted
from tests.simulation.invariants.step import ENDS, Step
from tests.simulation.invariants.whole import check_all, check_end
from tests.simulation.state import State
from tests.simulation.testimony import Testimony

CAP = 20
LOST = frozenset({Reason.RUNNER_LOST, Reason.RUNNER_TERMINATED})
"""Why a run may fail although its commands would have passed: its runner was struck, or could not reach anybody."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """`positions` are those that runs were seen to wait at."""

    load: Load
    state: State
    effects: Mapping[Site, Sequence[Effect]]
    positions: Mapping[str, set[int]]


def wrong(evidence: Evidence) -> list[str]:
    """Everything, each with what it is about."""
    return [
        *(f"answers: {each}" for each in evidence.load.wrong),
        *_stored(evidence),
        *(f"conservation: {each}" for each in conservation.violations(_read(evidence))),
        *(f"told: {each}" for each in _told(evidence)),
        *(f"order: {each}" for each in _in_order(evidence)),
        *(f"ends: {each}" for each in _ends(evidence)),
        *(f"idle: {each}" for each in _left(evidence.state)),
    ]


def _stored(evidence: Evidence) -> list[str]:
    """The invariants of a state. Nothing moves between it and itself, so those of moves say nothing here."""
    testimony = Testimony(acked=evidence.load.runs())
    for effects in evidence.effects.values():
        testimony.executed.update(record.those(effects, "begin"))
        for run in record.those(effects, "end"):
            testimony.reported.setdefault(run, set()).add(Status.PASSED)
    state = evidence.state
    step = Step(before=state, after=state, at=datetime.now(UTC), testimony=testimony, cap=CAP)
    return [*check_all(step), *check_end(state, testimony)]


def _read(evidence: Evidence) -> Read:
    runs = evidence.state.runs.values()
    return Read(
        acknowledged=evidence.load.runs(),
        unknown=set(),
        queued={run.run_id for run in runs if run.status is Status.QUEUED},
        active={run.run_id for run in runs if run.status not in (Status.QUEUED, *ENDS)},
        ended={run.run_id for run in runs if run.status in ENDS},
    )


def _told(evidence: Evidence) -> Iterator[str]:
    """One run for whoever asked for it, and one row for each delivery."""
    for asked in (each for one in evidence.load.asked.values() for each in one):
        if len(asked.runs) != 1 or None in asked.runs:
            yield f"{asked.name} was told of {asked.runs}"
    rows = Counter(row.delivery_id for row in evidence.state.deliveries.values())
    sent = Counter(push.delivery_id for site in evidence.effects for push in site.pushes)
    if rows != sent:
        yield f"rows that are missing: {sorted(sent - rows)}, too many: {sorted(rows - sent)}"
    answers = {each.name: each.runs for one in evidence.load.asked.values() for each in one}
    for row in evidence.state.deliveries.values():
        if answers.get(row.delivery_id) != {row.run_id}:
            yield f"{row.delivery_id} has {row.run_id}, told was {answers.get(row.delivery_id)}"


def _in_order(evidence: Evidence) -> Iterator[str]:
    for site, effects in evidence.effects.items():
        accepted = list(_accepted(evidence, site))
        known = {each.run_id for each in accepted}
        unseen = {each.run_id for each in record.lives(site.project, effects)} - known
        # A run by hand that waited for too short a time to be seen waiting.
        by_hand = {run for each in evidence.load.asked[site] if each.push is None for run in each.runs}
        ran = [each for each in record.lives(site.project, effects) if each.run_id not in unseen & by_hand]
        yield from queue_order.violations(accepted, ran)


def _accepted(evidence: Evidence, site: Site) -> Iterator[Accepted]:
    of_pushes: dict[str, int] = {event.run_ids[0]: event.order for event in evidence.state.ref_events.values()}
    for asked in evidence.load.asked[site]:
        for run in filter(None, asked.runs):
            seen = evidence.positions.get(run, set())
            for position in {*seen, *((of_pushes[run],) if run in of_pushes else ())}:
                yield Accepted(
                    project=site.project,
                    run_id=run,
                    position=position,
                    invoked=round(asked.asked * 1e9),
                    completed=round(asked.acknowledged * 1e9),
                )


def _ends(evidence: Evidence) -> Iterator[str]:
    """Why each run ended, and whether its commands were those of its commit."""
    for site, effects in evidence.effects.items():
        marks = record.marks(effects)
        ended = set(record.those(effects, "end"))
        for run in _runs_of(site, evidence.state):
            if (why := _wrong_end(run, canceled=evidence.load.canceled)) is not None:
                yield why
            mark = site.marks.get(run.commit_sha or "")
            if marks.get(run.run_id, {mark}) != {mark}:
                yield f"{run.run_id} is of {run.commit_sha} ({mark}), its commands of {marks[run.run_id]}"
            if run.status is Status.PASSED and run.run_id not in ended:
                yield f"{run.run_id} passed, its commands did not come to their end"


def _runs_of(site: Site, state: State) -> list[Run]:
    return [run for run in state.runs.values() if run.project == site.project]


def _wrong_end(run: Run, *, canceled: set[str]) -> str | None:
    expected = {
        Status.PASSED: run.reason is None,
        Status.CANCELED: run.run_id in canceled,
        Status.FAILED: run.reason in LOST,
    }
    if expected.get(run.status, False):
        return None
    return f"{run.run_id} is {run.status}, {run.reason}: {run.detail}"


def _left(state: State) -> Iterator[str]:
    for project in state.projects.values():
        if project.queue or project.active is not None:
            yield f"{project.slug} has {project.active} and {[entry.run_id for entry in project.queue]}"
    for run_id in state.leases:
        yield f"{run_id} has a lease"
