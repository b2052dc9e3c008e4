"""An operator's verdict, decided over a row and the version that was looked at."""

from collections.abc import Callable
from datetime import datetime, timedelta
from typing import TypeAlias

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.coordinator.ledger import rows, settle
from services.coordinator.ledger.rows import Put, Remove, Response, Row, Stands, Step
from services.coordinator.records.table import Held
from services.kernel.errors import AlreadySettled, AttemptRunning, NotFound, StaleVersion
from services.kernel.ports import Version
from tests.unit.coordinator.ledger.shelf import MAX_UNTIL, OK, WEEK, completed, in_progress
from tests.unit.kernel.world import NOON

V1, V2 = Version("v1"), Version("v2")
LATER = MAX_UNTIL + timedelta(microseconds=1)
REFERENCE = "firestore/anvil_idempotency_0/1"
FOUND: Held[Row] = Held(in_progress(), V1)

Judge: TypeAlias = Callable[[Held[Row] | None, datetime], Step]


def it_happened(found: Held[Row] | None, now: datetime, response: Response = OK) -> Step:
    """Judged at version `v1`."""
    verdict = settle.Verdict.of(response, at=V1, reference=REFERENCE)
    return settle.complete(found, verdict, now=now, expires_at=now + WEEK)


def it_did_not(found: Held[Row] | None, now: datetime) -> Step:
    return settle.release(found, at=V1, now=now, reference=REFERENCE)


either = pytest.mark.parametrize("judge", [it_happened, it_did_not])


@pytest.mark.req("R136")
def test_a_row_that_is_proven_to_have_acted_is_completed_with_the_exact_answer() -> None:
    step = it_happened(FOUND, LATER)
    assert isinstance(step, Put)
    assert isinstance(step.row, rows.Completed)
    assert (step.at, step.row.response_status, step.row.result_json) == (V1, 201, '{"invoice":"inv_1"}')
    assert step.row.expires_at == LATER + WEEK
    assert (step.row.reservation_id, step.row.fingerprint) == ("mine", "f" * 64)


@pytest.mark.req("R135")
def test_a_row_that_is_proven_not_to_have_acted_is_deleted() -> None:
    assert it_did_not(FOUND, LATER) == Remove(reservation_id="mine", at=V1)


@either
@pytest.mark.req("R134")
@pytest.mark.inv("I12")
def test_a_verdict_on_a_version_that_is_past_is_stale_and_says_what_the_row_is_now(judge: Judge) -> None:
    for now in (NOON, LATER, LATER + timedelta(days=3650)):
        with pytest.raises(StaleVersion, match="in progress at version v2, not at v1") as stale:
            judge(Held(in_progress(), V2), now)
        assert stale.value.ledger_ref == REFERENCE
    with pytest.raises(StaleVersion, match="completed at version v2, not at v1"):
        judge(Held(completed(), V2), LATER)


@either
def test_a_call_that_may_still_be_running_is_not_judged(judge: Judge) -> None:
    for now in (NOON, MAX_UNTIL):
        with pytest.raises(AttemptRunning, match=r"2026-11-30T12:01:00\.000Z") as running:
            judge(FOUND, now)
        assert running.value.ledger_ref == REFERENCE


@either
def test_a_completed_row_is_settled(judge: Judge) -> None:
    with pytest.raises(AlreadySettled):
        judge(Held(completed(), V1), LATER)


@either
def test_there_is_no_verdict_on_a_row_that_is_not_there(judge: Judge) -> None:
    with pytest.raises(NotFound):
        judge(None, LATER)


def test_the_same_verdict_again_finds_itself_applied() -> None:
    step = it_happened(FOUND, LATER)
    assert isinstance(step, Put)
    applied = Held(step.row, V2)
    assert it_happened(applied, LATER + WEEK) == Stands(found=applied)


@pytest.mark.parametrize(
    "other", [Response(status=200, result_json=OK.result_json), Response(status=201, result_json="null")]
)
def test_another_verdict_than_the_one_that_was_applied_is_stale(other: Response) -> None:
    step = it_happened(FOUND, LATER)
    assert isinstance(step, Put)
    with pytest.raises(StaleVersion):
        it_happened(Held(step.row, V2), LATER, other)


@given(st.integers(100, 599), st.text(), st.text())
def test_the_identity_of_a_verdict_is_all_that_it_says(status: int, body: str, version: str) -> None:
    def id_(status: int, body: str, version: str) -> str:
        response = Response(status=status, result_json=body)
        return settle.Verdict.of(response, at=Version(version), reference=REFERENCE).completion_id

    said = id_(status, body, version)
    assert said == id_(status, body, version)
    assert said not in {
        id_(status + 1, body, version),
        id_(status, body + " ", version),
        id_(status, body, version + "0"),
    }


def test_an_answer_that_no_row_holds_is_refused_by_name() -> None:
    with pytest.raises(rows.TooLarge) as refused:
        it_happened(FOUND, LATER, Response(status=200, result_json=f'"{"a" * 819_200}"'))
    assert [problem.field for problem in refused.value.fields] == ["response.body"]
