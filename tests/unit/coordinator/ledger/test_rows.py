"""What an owner may make of a row, decided over a row and what is known of it."""

from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.coordinator.ledger import rows
from services.coordinator.ledger.rows import Completed, Put, Remove, Response, Row, Stands
from services.coordinator.records.table import Held
from services.kernel.errors import IdempotencyKeyReused, OutcomeUnknown
from services.kernel.ports import Version
from tests.unit.coordinator.ledger.shelf import WEEK, completed, in_progress
from tests.unit.kernel.world import NOON

V1, V2 = Version("v1"), Version("v2")
CEILING = 819_200
MOMENT = timedelta(microseconds=1)
REFERENCE = "firestore/anvil_idempotency_0/1"

MINE = in_progress()
THEIRS = in_progress(reservation_id="theirs")


def at(row: Row, version: Version = V1) -> Held[Row]:
    return Held(row, version)


def test_a_free_place_is_taken() -> None:
    assert rows.reserve(None, MINE, now=NOON) == Put(row=MINE, at=None)


@pytest.mark.inv("I15")
def test_ones_own_reservation_stands() -> None:
    assert rows.reserve(at(MINE), MINE, now=NOON) == Stands(found=at(MINE))


@pytest.mark.parametrize("found", [THEIRS, completed(reservation_id="theirs")], ids=["running", "completed"])
def test_anothers_row_for_the_same_request_stands(found: Row) -> None:
    assert rows.reserve(at(found), MINE, now=NOON) == Stands(found=at(found))


@pytest.mark.parametrize("found", [THEIRS, completed(reservation_id="theirs")], ids=["running", "completed"])
@pytest.mark.req("R106")
@pytest.mark.inv("I6")
def test_another_request_under_a_key_is_refused_in_any_state_of_its_row(found: Row) -> None:
    with pytest.raises(IdempotencyKeyReused) as refused:
        rows.reserve(at(found), in_progress(fingerprint="e" * 64), now=NOON)
    assert refused.value.ledger_ref is None


@pytest.mark.parametrize("fingerprint", ["f" * 64, "e" * 64], ids=["same", "other"])
@pytest.mark.inv("I4")
def test_an_expired_row_counts_as_absent_before_anything_is_compared(fingerprint: str) -> None:
    """At its last microsecond it is still there; at `expires_at` it is not."""
    found, asked = completed(fingerprint=fingerprint), in_progress(reservation_id="next")

    assert rows.reserve(at(found, V2), asked, now=NOON + WEEK) == Put(row=asked, at=V2)
    with_life_left = NOON + WEEK - MOMENT
    if fingerprint == asked.fingerprint:
        assert rows.reserve(at(found, V2), asked, now=with_life_left) == Stands(found=at(found, V2))
    else:
        with pytest.raises(IdempotencyKeyReused):
            rows.reserve(at(found, V2), asked, now=with_life_left)


@given(st.timedeltas(timedelta(0), timedelta(days=36_500)))
@pytest.mark.req("R111")
@pytest.mark.inv("I3")
def test_a_row_in_progress_is_never_taken_over_however_old_it_is(age: timedelta) -> None:
    assert rows.reserve(at(THEIRS), MINE, now=NOON + age) == Stands(found=at(THEIRS))


def test_a_completion_replaces_ones_own_reservation_at_its_version() -> None:
    assert rows.complete(at(MINE), completed(), at=V1, reference=REFERENCE) == Put(row=completed(), at=V1)


def test_a_completion_that_was_written_stands() -> None:
    done = at(completed(), V2)
    assert rows.complete(done, completed(), at=V1, reference=REFERENCE) == Stands(found=done)


@pytest.mark.parametrize(
    "found",
    [
        None,
        at(MINE, V2),
        at(THEIRS, V2),
        at(completed(completion_id="verdict"), V2),
        at(completed(completion_id="verdict"), V1),
    ],
    ids=["gone", "moved", "another's", "settled", "settled at this version"],
)
@pytest.mark.req("R104")
@pytest.mark.inv("I2")
def test_a_completion_of_what_is_not_there_as_it_was_is_an_unknown_outcome(found: Held[Row] | None) -> None:
    with pytest.raises(OutcomeUnknown) as unknown:
        rows.complete(found, completed(), at=V1, reference=REFERENCE)
    assert (unknown.value.ledger_ref, unknown.value.retryable) == (REFERENCE, False)


def test_a_release_deletes_ones_own_reservation_at_its_version() -> None:
    assert rows.release(at(MINE), "mine", at=V1, reference=REFERENCE) == Remove(reservation_id="mine", at=V1)


@pytest.mark.parametrize("found", [None, at(THEIRS, V2)], ids=["gone", "another's"])
def test_a_release_leaves_what_is_not_ones_own(found: Held[Row] | None) -> None:
    assert rows.release(found, "mine", at=V1, reference=REFERENCE) == Stands(found=None)


def test_a_release_of_what_an_operator_completed_is_an_unknown_outcome() -> None:
    with pytest.raises(OutcomeUnknown):
        rows.release(at(completed(completion_id="verdict"), V2), "mine", at=V1, reference=REFERENCE)


@pytest.mark.parametrize(
    ("found", "expected"),
    [
        (None, Stands(found=None)),
        (at(THEIRS, V2), Stands(found=None)),
        (at(MINE, V2), Remove(reservation_id="mine", at=V2)),
    ],
)
def test_a_reservation_nobody_heard_of_is_withdrawn_and_no_other(found: Held[Row] | None, expected: object) -> None:
    assert rows.withdraw(found, "mine") == expected


@pytest.mark.parametrize(
    "text",
    [
        '"' + "a" * (CEILING - 2) + '"',
        '"' + "é" * ((CEILING - 2) // 2) + '"',
        '"' + "🧾" * ((CEILING - 2) // 4) + "aa" + '"',
    ],
    ids=["one byte a character", "two", "four"],
)
@pytest.mark.req("R109")
@pytest.mark.inv("I9")
def test_a_result_has_at_most_819200_bytes_of_utf_8(text: str) -> None:
    assert len(text.encode()) == CEILING
    assert _completed(text).result_json == text

    with pytest.raises(rows.TooLarge, match=r"819201 bytes.*819200") as refused:
        _completed(text + " ")
    assert refused.value.code == "invalid_request"
    with pytest.raises(rows.TooLarge, match=r"819202 bytes"):
        _completed(text + "é")


@pytest.mark.inv("I13")
def test_a_completed_row_says_of_its_request_what_the_reservation_said() -> None:
    assert _completed('{"invoice":"inv_1"}') == completed()


def test_no_result_shows_where_a_row_is_printed() -> None:
    assert "inv_1" not in repr(completed())
    assert "inv_1" not in repr(Response(status=201, result_json='{"invoice":"inv_1"}'))


def _completed(result_json: str) -> Completed:
    response = Response(status=201, result_json=result_json)
    return rows.completed(MINE, response, completion_id="done", expires_at=NOON + WEEK)
