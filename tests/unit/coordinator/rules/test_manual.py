"""Runs that a person asks for."""

from dataclasses import replace

import pytest

from services.coordinator.records.delivery import RefEvent
from services.coordinator.records.project import Project
from services.coordinator.records.run import Run, Timers
from services.coordinator.rules import manual
from services.coordinator.rules.manual import Asked, request_fingerprint
from services.kernel.errors import IdempotencyKeyReused, NotFound, NotRerunnable, QueueFull
from services.kernel.ids import ProjectId, RunId
from services.kernel.runs import Kind, Status, Trigger
from services.kernel.wire.runs import AcceptRun
from tests.unit.coordinator.builders import (
    NOW,
    NUMBERS,
    OTHER_SHA,
    SHA,
    entry,
    executable,
    project,
    ref_event,
    run,
    run_id,
)

START = AcceptRun(run_id=run_id(9), actor="ada@example.com")
RERUN = AcceptRun(run_id=run_id(9), source=run_id(1), actor="ada@example.com")


def decide(
    asked: AcceptRun,
    state: Project | None = None,
    *,
    found: Run | None = None,
    source: Run | None = None,
    event: RefEvent | None = None,
) -> Asked:
    return manual.decide(
        state or project(),
        RunId(asked.run_id),
        asked,
        found=found,
        source=source,
        ref_event=event,
        now=NOW,
        numbers=NUMBERS,
    )


def accepted(asked: Asked) -> Run:
    assert asked.run is not None
    return asked.run


@pytest.mark.req("R14")
def test_a_manual_run_pins_no_commit() -> None:
    made = accepted(decide(START))

    assert (made.commit_sha, made.pinned) == (None, False)


def test_a_manual_run_is_somebodys_and_of_the_default_branch() -> None:
    made = accepted(decide(START))

    assert (made.trigger, made.kind, made.actor, made.branch) == (
        Trigger.MANUAL,
        Kind.ACTION,
        "ada@example.com",
        "main",
    )


def test_a_manual_run_may_be_of_any_branch() -> None:
    assert accepted(decide(START.model_copy(update={"branch": "feature"}))).branch == "feature"


def test_a_manual_run_stands_in_line_like_any_other() -> None:
    first, second = decide(START), decide(START, project(executable(1)))

    assert (accepted(first).position, accepted(first).timers) == (1, Timers(dispatch=NOW, index=NOW))
    assert (accepted(second).position, accepted(second).timers) == (2, Timers(index=NOW))
    assert second.project is not None
    assert [each.run_id for each in second.project.queue] == [run_id(1), run_id(9)]


@pytest.mark.parametrize("asked", [START, RERUN])
def test_at_the_cap_neither_a_run_nor_a_rerun_is_created(asked: AcceptRun) -> None:
    full = project(*(entry(number) for number in range(1, 21)))

    with pytest.raises(QueueFull):
        decide(asked, full, source=run(1, Status.FAILED), event=ref_event())


@pytest.mark.parametrize("asked", [START, RERUN])
def test_the_same_request_again_is_the_same_run(asked: AcceptRun) -> None:
    found = accepted(decide(asked, source=run(1, Status.FAILED)))

    assert decide(asked, found=found, source=run(1, Status.FAILED), event=ref_event()) == Asked(run_id=run_id(9))


@pytest.mark.req("C16")
@pytest.mark.parametrize(
    "other",
    [
        {"branch": "feature"},
        {"source": run_id(1)},
        {"source": run_id(2), "branch": "feature"},
    ],
)
def test_a_key_that_stands_for_another_request_is_refused(other: dict[str, str]) -> None:
    with pytest.raises(IdempotencyKeyReused):
        decide(START.model_copy(update=other), found=accepted(decide(START)))


def test_who_asks_is_no_part_of_the_request() -> None:
    assert request_fingerprint(START) == request_fingerprint(START.model_copy(update={"actor": "bob@example.com"}))


def test_a_webhooks_run_is_run_again_at_its_own_commit() -> None:
    source = replace(run(1, Status.FAILED), branch="release", before_sha=OTHER_SHA)
    made = accepted(decide(RERUN, source=source))

    assert (made.commit_sha, made.pinned, made.before_sha, made.branch) == (SHA, True, OTHER_SHA, "release")
    assert (made.trigger, made.source_run_id, made.actor) == (Trigger.RERUN, run_id(1), "ada@example.com")


def test_a_manual_run_is_run_again_at_the_head_of_its_branch() -> None:
    source = replace(run(1, Status.PASSED), pinned=False, branch="feature")
    made = accepted(decide(RERUN, source=source))

    assert (made.commit_sha, made.pinned, made.before_sha, made.branch) == (None, False, None, "feature")


@pytest.mark.req("C20")
def test_a_rerun_takes_the_place_of_its_run_in_the_push_and_leaves_the_others() -> None:
    event = replace(ref_event(), run_ids=(run_id(1), run_id(5)))

    assert decide(RERUN, source=run(1, Status.FAILED), event=event).ref_event == replace(
        event, run_ids=(run_id(5), run_id(9))
    )


def test_a_manual_run_belongs_to_no_push() -> None:
    assert decide(START, event=ref_event()).ref_event is None


@pytest.mark.parametrize(
    "status",
    [Status.QUEUED, Status.STARTING, Status.RUNNING, Status.CANCEL_REQUESTED, Status.CANCELING],
)
def test_an_open_run_cannot_be_run_again(status: Status) -> None:
    with pytest.raises(NotRerunnable):
        decide(RERUN, source=run(1, status))


def test_a_build_of_a_release_cannot_be_run_again() -> None:
    with pytest.raises(NotRerunnable):
        decide(RERUN, source=replace(run(1, Status.FAILED), kind=Kind.SITE_BUILD))


def test_another_projects_run_is_not_there() -> None:
    foreign = replace(run(1, Status.FAILED), project_id=ProjectId("prj_0000000000000000000002"))

    with pytest.raises(NotFound):
        decide(RERUN, source=foreign)
    with pytest.raises(NotFound):
        decide(RERUN, source=None)
