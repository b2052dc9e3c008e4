"""Executing an operation: what comes back, and what each refusal says of the other system."""

import asyncio
from datetime import timedelta

import pytest

from tests.unit.coordinator.operations.billing import Billing, Request, answers, does_and_hangs, drops, refuses
from tests.unit.ingress.operations.asking import INPUT, execute, told
from tests.unit.whole import ADMIN, OPERATOR, VIEWER, Whole

pytestmark = pytest.mark.anyio


async def test_operations_are_listed_with_what_is_replayed(anvil: Whole) -> None:
    listed = (await anvil.call("GET", "/operations", by=VIEWER)).json()["items"]
    replays = {each["operation"]: each["replays"] for each in listed}

    assert list(replays) == ["make-required", "make-key-supported", "make-client-id", "make-natural", "make-none"]
    assert replays["make-required"] == {"ttlSeconds": 604800, "ceilingBytes": 819200}
    assert replays["make-natural"] is None


async def test_a_repeat_is_answered_with_the_first_answer_and_says_so(anvil: Whole) -> None:
    first, again = await execute(anvil), await execute(anvil)

    assert first.json() == {"status": 201, "result": {"invoice": "i-1"}, "replayed": False}
    assert again.json() == {"status": 201, "result": {"invoice": "i-1"}, "replayed": True}
    assert [each.headers.get("Idempotent-Replayed") for each in (first, again)] == [None, "true"]
    assert len(anvil.billing.requests) == 1


async def test_anothers_key_conflicts_and_tells_nothing_of_the_first(anvil: Whole) -> None:
    anvil.billing.answers = [answers(201, {"invoice": "hers"})]
    await execute(anvil, by=ADMIN)
    answer = await execute(anvil, by=OPERATOR)

    assert told(answer) == (422, "idempotency_key_reused", False)
    assert "hers" not in answer.text
    assert ADMIN not in answer.text
    assert len(anvil.billing.requests) == 1


async def test_an_unknown_outcome_names_its_row_and_stays_refused(anvil: Whole) -> None:
    anvil.billing.answers = [drops(acts=True)]
    first, later = await execute(anvil), await execute(anvil)

    assert told(first) == (409, "idempotency_outcome_unknown", False)
    assert told(later) == (409, "idempotency_in_progress", False)
    assert first.json()["ledgerRef"] == later.json()["ledgerRef"]
    assert len(anvil.billing.requests) == 1


@pytest.mark.parametrize(
    ("mode", "key", "more", "expected"),
    [
        ("required", None, {}, (400, "idempotency_key_required", False)),
        ("none", None, {}, (400, "confirmation_required", False)),
        ("natural", "k", {}, (400, "invalid_request", False)),
        ("required", "k", {"input": {"customer": 1}}, (400, "invalid_request", False)),
        ("required", "k k", {}, (400, "invalid_request", False)),
        ("tea", "k", {}, (404, "not_found", False)),
    ],
)
async def test_what_cannot_be_executed_calls_nobody(
    anvil: Whole, mode: str, key: str | None, more: dict[str, object], expected: tuple[int, str, bool]
) -> None:
    assert told(await execute(anvil, mode, key=key, more=more)) == expected
    assert anvil.billing.requests == []


async def test_a_dry_run_works_with_every_store_down(anvil: Whole) -> None:
    anvil.book.rows.away = anvil.book.anvil.instance.store.away = True
    answer = await execute(anvil, more={"dryRun": True})

    assert (answer.status_code, answer.json()["status"], answer.json()["replayed"]) == (200, None, False)
    assert "order-4711" not in answer.text
    assert told(await execute(anvil)) == (503, "ledger_unavailable", True)
    assert anvil.billing.requests == []


async def test_a_refusal_of_the_other_system_is_an_answer_and_frees_the_key(anvil: Whole) -> None:
    anvil.billing.answers = [refuses(422, {"why": "no such customer"}), answers(201, {"invoice": "i-2"})]
    refused, done = await execute(anvil), await execute(anvil)

    assert (refused.json()["status"], refused.json()["result"]) == (422, {"why": "no such customer"})
    assert (done.json()["status"], done.json()["replayed"]) == (201, False)


async def test_what_is_asked_in_the_query_is_refused_and_not_passed_over(anvil: Whole) -> None:
    answer = await anvil.call(
        "POST",
        "/operations/make-required:execute",
        json={"input": INPUT},
        headers={"Idempotency-Key": "k"},
        params={"dryRun": "true"},
    )

    assert told(answer) == (400, "invalid_request", False)
    assert answer.json()["errors"] == [{"field": "dryRun", "message": "unknown field"}]
    assert anvil.billing.requests == []


LOST: list[tuple[str, str | None, dict[str, object], tuple[int, str, bool]]] = [
    ("required", "k", {}, (503, "unavailable", True)),
    ("key-supported", "k", {}, (503, "unavailable", True)),
    ("key-supported", None, {}, (409, "operation_outcome_unknown", False)),
    ("client-id", None, {}, (503, "unavailable", True)),
    ("natural", None, {}, (503, "unavailable", True)),
    ("none", None, {"confirm": True}, (409, "operation_outcome_unknown", False)),
]


@pytest.mark.parametrize(("mode", "key", "more", "expected"), LOST, ids=[f"{each[0]} {each[1]}" for each in LOST])
async def test_an_answer_that_does_not_come_in_time_is_told_by_what_asking_again_would_do(
    anvil: Whole, mode: str, key: str | None, more: dict[str, object], expected: tuple[int, str, bool]
) -> None:
    """The other system acts and is slow. Whoever asked is told in time; the execution goes on."""

    async def is_slow(upstream: Billing, request: Request, writer: asyncio.StreamWriter) -> None:
        anvil.place.clock.move(timedelta(seconds=1))
        await does_and_hangs(upstream, request, writer)

    anvil.billing.answers = [is_slow]
    answer = await execute(anvil, mode, key=key, headers={"X-Anvil-Deadline-Ms": "700"}, more=more)
    anvil.billing.hold.set()

    assert told(answer) == expected
    assert len(anvil.billing.requests) == 1


@pytest.mark.parametrize(
    ("mode", "key", "confirm", "expected"),
    [
        ("required", "k", False, (503, "unavailable", True)),
        ("key-supported", "k", False, (503, "unavailable", True)),
        ("key-supported", None, False, (409, "operation_outcome_unknown", False)),
        ("client-id", None, False, (503, "unavailable", True)),
        ("natural", None, False, (503, "unavailable", True)),
        ("none", None, True, (409, "operation_outcome_unknown", False)),
    ],
)
async def test_an_answer_that_is_lost_on_the_way_is_not_asked_for_again_unasked(
    anvil: Whole, mode: str, key: str | None, confirm: bool, expected: tuple[int, str, bool]
) -> None:
    anvil.line.loses = [":execute"]
    answer = await execute(anvil, mode, key=key, more={"confirm": confirm})

    assert told(answer) == expected
    assert len(anvil.billing.requests) == 1


async def test_of_what_nobody_can_say_that_it_may_be_repeated_the_outcome_is_unknown(anvil: Whole) -> None:
    anvil.line.loses = [":execute", "/v1/operations", "/v1/operations"]
    assert told(await execute(anvil, "natural", key=None)) == (409, "operation_outcome_unknown", False)


async def test_what_needs_no_ledger_goes_on_through_an_outage(anvil: Whole) -> None:
    anvil.book.anvil.instance.store.away = anvil.book.rows.away = True
    for mode in ("client-id", "natural", "none"):
        answer = await execute(anvil, mode, key=None, more={"confirm": mode == "none"})
        assert (answer.status_code, answer.json()["status"]) == (200, 201)
