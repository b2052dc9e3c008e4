"""What becomes of a call, and of its row: by what the other system did, and by the mode."""

from dataclasses import replace
from typing import TypeAlias

import pytest

from services.coordinator.operations.model import Operation
from services.kernel.errors import (
    Ambiguous,
    AnvilError,
    IdempotencyInProgress,
    OperationOutcomeUnknown,
    OutcomeUnknown,
    UpstreamUnavailable,
)
from services.kernel.wire.ledger import LedgerQuery, RowStatus
from services.kernel.wire.operations import ExecuteOperation
from tests.unit.coordinator.operations import billing as other
from tests.unit.coordinator.operations.billing import Answer, Billing
from tests.unit.coordinator.operations.desk import SHORT, Desk, ask, operation

pytestmark = pytest.mark.anyio

Told: TypeAlias = "int | type[AnvilError]"
"""The other system's status, or the error."""


def short(mode: str, upstream: Billing) -> Operation:
    return replace(operation(mode, port=upstream.port), timeout=SHORT)


async def told(desk: Desk, offered: Operation, asked: ExecuteOperation | None = None) -> Told:
    try:
        executed = await desk.execute(offered, asked)
    except AnvilError as error:
        return type(error)
    assert executed.status is not None
    assert not executed.replayed
    return executed.status


async def row(desk: Desk) -> RowStatus | None:
    """What the ledger has of the only key."""
    assert desk.ledger is not None
    rows = (await desk.ledger.page(LedgerQuery())).items
    assert len(rows) <= 1
    return rows[0].status if rows else None


DONE, OPEN = RowStatus.COMPLETED, RowStatus.IN_PROGRESS

# What the other system does · what the caller is told · what is left of the row · calls · effects
GUARDED: dict[str, tuple[list[Answer], Told, RowStatus | None, int, int]] = {
    "success": ([other.answers(201)], 201, DONE, 1, 1),
    "a proof that nothing happened": ([other.refuses(422)], 422, None, 1, 0),
    "another 4xx": ([other.refuses(403)], OutcomeUnknown, OPEN, 3, 0),
    "408": ([other.refuses(408)], OutcomeUnknown, OPEN, 3, 0),
    "409": ([other.refuses(409)], OutcomeUnknown, OPEN, 3, 0),
    "429": ([other.refuses(429)], OutcomeUnknown, OPEN, 3, 0),
    "500": ([other.refuses(500)], OutcomeUnknown, OPEN, 3, 0),
    "503 after it acted": ([other.answers(503)], OutcomeUnknown, OPEN, 3, 1),
    "a redirect": ([other.refuses(307, location="http://127.0.0.1:1/")], OutcomeUnknown, OPEN, 3, 0),
    "it acts and drops": ([other.drops(acts=True)], OutcomeUnknown, OPEN, 3, 1),
    "it only drops": ([other.drops(acts=False)], OutcomeUnknown, OPEN, 3, 0),
    "it acts and hangs": ([other.does_and_hangs], OutcomeUnknown, OPEN, 3, 1),
    "it acts and answers half": ([other.answers_half], OutcomeUnknown, OPEN, 3, 1),
    "a drop, then success": ([other.drops(acts=True), other.answers(201)], 201, DONE, 2, 1),
    "500 twice, then success": ([other.refuses(500), other.refuses(500), other.answers(200)], 200, DONE, 3, 1),
    "a drop, then a proof": ([other.drops(acts=True), other.refuses(422)], OutcomeUnknown, OPEN, 3, 1),
    "another success": ([other.answers(204)], OutcomeUnknown, OPEN, 3, 1),
}

# What the other system does · what the caller is told · calls
REPEATED: dict[str, tuple[list[Answer], Told, int]] = {
    "success": ([other.answers(201)], 201, 1),
    "400": ([other.refuses(400)], 400, 1),
    "403": ([other.refuses(403)], 403, 1),
    "409": ([other.refuses(409)], 409, 1),
    "408": ([other.refuses(408)], 408, 3),
    "425": ([other.refuses(425)], 425, 3),
    "429": ([other.refuses(429)], 429, 3),
    "500": ([other.refuses(500)], 500, 3),
    "503, then success": ([other.refuses(503), other.answers(200)], 200, 2),
    "a redirect": ([other.refuses(302, location="http://127.0.0.1:1/")], 302, 1),
    "503, then drops": ([other.refuses(503), other.drops(acts=True)], 503, 3),
    "it acts and drops": ([other.drops(acts=True)], Ambiguous, 3),
    "it acts and hangs": ([other.does_and_hangs], Ambiguous, 3),
    "it acts and answers half": ([other.answers_half], Ambiguous, 3),
    "a drop, then success": ([other.drops(acts=True), other.answers(201)], 201, 2),
}

ONCE: dict[str, tuple[list[Answer], Told]] = {
    "success": ([other.answers(201)], 201),
    "400": ([other.refuses(400)], 400),
    "429": ([other.refuses(429)], 429),
    "500": ([other.refuses(500)], 500),
    "a redirect": ([other.refuses(302, location="http://127.0.0.1:1/")], 302),
    "it acts and drops": ([other.drops(acts=True)], OperationOutcomeUnknown),
    "it acts and hangs": ([other.does_and_hangs], OperationOutcomeUnknown),
    "it acts and answers half": ([other.answers_half], OperationOutcomeUnknown),
}


@pytest.mark.req("R131")
@pytest.mark.inv("I10")
@pytest.mark.parametrize("mode", ["required", "key_supported"])
@pytest.mark.parametrize("case", GUARDED)
async def test_under_the_ledger(upstream: Billing, desk: Desk, mode: str, case: str) -> None:
    answers, expected, left, calls, effects = GUARDED[case]
    upstream.answers = list(answers)
    assert await told(desk, short(mode, upstream)) == expected
    assert await row(desk) == left
    assert len(upstream.requests) == calls
    assert len(upstream.made()) == effects


@pytest.mark.parametrize("mode", ["client_id", "natural", "key_supported"])
@pytest.mark.parametrize("case", REPEATED)
async def test_without_the_ledger_where_a_repeat_is_safe(upstream: Billing, desk: Desk, mode: str, case: str) -> None:
    answers, expected, calls = REPEATED[case]
    upstream.answers = list(answers)
    assert await told(desk.without_ledger(), short(mode, upstream)) == expected
    assert len(upstream.requests) == calls
    assert await row(desk) is None


@pytest.mark.req("R130")
@pytest.mark.inv("I16")
@pytest.mark.parametrize("case", ONCE)
async def test_where_nothing_makes_a_repeat_safe_there_is_one_call(upstream: Billing, desk: Desk, case: str) -> None:
    answers, expected = ONCE[case]
    upstream.answers = list(answers)
    assert await told(desk, short("none", upstream)) == expected
    assert len(upstream.requests) == 1
    assert await row(desk) is None


@pytest.mark.parametrize("case", ONCE)
async def test_a_key_that_was_left_out_leaves_one_call(upstream: Billing, desk: Desk, case: str) -> None:
    answers, expected = ONCE[case]
    upstream.answers = list(answers)
    offered = short("key_supported", upstream)
    unkeyed = ask(offered).model_copy(update={"idempotency_key": None})
    assert await told(desk, offered, unkeyed) == expected
    assert len(upstream.requests) == 1
    assert await row(desk) is None


@pytest.mark.parametrize("mode", ["required", "key_supported", "client_id", "natural", "none"])
async def test_what_cannot_be_reached_was_not_called(desk: Desk, mode: str) -> None:
    unreachable = operation(mode, port=1)
    with pytest.raises(UpstreamUnavailable) as refused:
        await desk.execute(unreachable)
    assert type(refused.value) is UpstreamUnavailable
    assert await row(desk) is None


@pytest.mark.req("R132")
@pytest.mark.inv("I8")
async def test_after_a_lost_answer_later_requests_stop_at_the_row(upstream: Billing, desk: Desk) -> None:
    upstream.answers = [other.drops(acts=True)]
    offered = short("required", upstream)
    with pytest.raises(OutcomeUnknown) as first:
        await desk.execute(offered)
    upstream.answers = [other.answers(201)]
    calls = len(upstream.requests)
    for _ in range(3):
        desk.clock.move(SHORT * 10_000)
        with pytest.raises(IdempotencyInProgress) as later:
            await desk.execute(offered)
        assert later.value.ledger_ref == first.value.ledger_ref
    assert len(upstream.requests) == calls
    assert upstream.made() == [str(first.value.ledger_ref).rpartition("/")[2]]


@pytest.mark.inv("I7")
async def test_each_attempt_has_the_same_key_which_is_not_the_callers(upstream: Billing, desk: Desk) -> None:
    upstream.answers = [other.refuses(500)]
    with pytest.raises(OutcomeUnknown) as unknown:
        await desk.execute(short("required", upstream))
    (key,) = {request.key for request in upstream.requests}
    assert str(unknown.value.ledger_ref).endswith(f"/{key}")
    assert key != "key-1"


@pytest.mark.parametrize(
    ("case", "expected"),
    [
        ("success", ("done", None)),
        ("a proof that nothing happened", ("refused", "upstream_422")),
        ("it acts and drops", ("unknown", "idempotency_outcome_unknown")),
    ],
)
async def test_the_audit_says_how_it_ended(
    upstream: Billing, desk: Desk, case: str, expected: tuple[str, str | None]
) -> None:
    upstream.answers = list(GUARDED[case][0])
    offered = short("required", upstream)
    await told(desk, offered)
    (entry,) = await desk.entries()
    assert (entry.outcome, entry.code) == expected
    assert (entry.actor, entry.act, entry.target) == (
        "ada@example.com",
        "operation.execute",
        "operations/make-required",
    )


async def test_a_replay_is_not_told_as_another_call(upstream: Billing, desk: Desk) -> None:
    """Whoever counts effects by the audit counts each once; also when the catalogue has another success by then."""
    offered = short("required", upstream)
    await desk.execute(offered)
    assert (await desk.execute(offered)).replayed
    assert (await desk.execute(replace(offered, success=frozenset({204})))).replayed
    assert await desk.audited() == [("done", "replayed"), ("done", "replayed"), ("done", None)]
    assert len(upstream.requests) == 1


async def test_a_call_that_passes_something_on_is_not_told_as_done(upstream: Billing, desk: Desk) -> None:
    upstream.answers = [other.refuses(500)]
    await told(desk, short("natural", upstream))
    assert await desk.audited() == [("unknown", "upstream_500")]
