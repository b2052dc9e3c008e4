"""What each mode asks for, and what it makes of a system that answers 500 to everything (R126-R130)."""

from contextlib import suppress
from dataclasses import dataclass

import pytest

from services.kernel.errors import (
    AnvilError,
    ConfirmationRequired,
    IdempotencyKeyRequired,
    IdempotencyKeyReused,
    Invalid,
    LedgerUnavailable,
)
from services.kernel.strict_json import JsonValue
from services.kernel.wire.operations import ExecuteOperation
from tests.unit.coordinator.operations import billing as other
from tests.unit.coordinator.operations.billing import Billing
from tests.unit.coordinator.operations.desk import ADA, BOB, KEYED, Desk, ask, catalogue, operation

pytestmark = pytest.mark.anyio


@dataclass(frozen=True, slots=True, kw_only=True)
class Mode:
    """`calls` of a system that answers 500, with a key where one is taken; `writes` of the ledger until then."""

    needs_key: bool = False
    takes_key: bool = False
    needs_confirmation: bool = False
    needs_ledger: bool = False
    calls: int = 3
    writes: int = 0


TABLE = {
    "required": Mode(needs_key=True, takes_key=True, needs_ledger=True, writes=1),
    "key_supported": Mode(takes_key=True, writes=1),
    "client_id": Mode(),
    "natural": Mode(),
    "none": Mode(needs_confirmation=True, calls=1),
}
EACH = pytest.mark.parametrize("mode", TABLE)


@EACH
@pytest.mark.req("R126")
async def test_who_needs_a_key(upstream: Billing, desk: Desk, mode: str) -> None:
    offered = operation(mode, port=upstream.port)
    unkeyed = ask(offered).model_copy(update={"idempotency_key": None})
    if TABLE[mode].needs_key:
        with pytest.raises(IdempotencyKeyRequired):
            await desk.execute(offered, unkeyed)
        assert upstream.requests == []
    else:
        assert (await desk.execute(offered, unkeyed)).status == 201


@EACH
async def test_a_key_that_would_do_nothing_is_refused(upstream: Billing, desk: Desk, mode: str) -> None:
    offered = operation(mode, port=upstream.port)
    if TABLE[mode].takes_key:
        assert (await desk.execute(offered, ask(offered, key="k"))).status == 201
        return
    with pytest.raises(Invalid) as refused:
        await desk.execute(offered, ask(offered, key="k"))
    assert refused.value.code == "invalid_request"
    assert [problem.field for problem in refused.value.fields] == ["Idempotency-Key"]
    assert upstream.requests == []


IDS = """\
  - id: make
    title: Make an invoice
    approved: true
    upstream: http://billing.test:{port}
    method: POST
    path: {path}
    query: {query}
    input: {{type: object, required: [id], properties: {{id: {{}}}}}}
    idempotency: {{mode: client_id, carrier: {{in: {place}, name: id}}}}
    success: [201]
    timeoutSeconds: 10
"""
PLACES = {
    "body": ("/make", "[]"),
    "query": ("/make", "[id]"),
    "path": ("/make/{id}", "[]"),
}


@pytest.mark.parametrize("place", PLACES)
async def test_what_only_an_id_makes_safe_is_not_called_without_one(upstream: Billing, desk: Desk, place: str) -> None:
    path, query = PLACES[place]
    text = IDS.format(port=upstream.port, place=place, path=path, query=query)
    (offered,) = catalogue(text).operations.values()
    none: list[JsonValue] = [None, "", " \t", [], ["a"], ["a", "b"], {}, {"a": 1}, False, True, 1.5]
    for given in none:
        with pytest.raises(Invalid) as refused:
            await desk.execute(offered, ExecuteOperation(input={"id": given}, actor=ADA))
        assert [problem.field for problem in refused.value.fields] == ["input.id"], given
    assert upstream.requests == []
    some: list[JsonValue] = ["a", 0, -7, 7.0, 9_007_199_254_740_993]
    for given in some:
        assert (await desk.execute(offered, ExecuteOperation(input={"id": given}, actor=ADA))).status == 201
    assert len(upstream.requests) == len(some)


@EACH
async def test_who_needs_a_confirmation(upstream: Billing, desk: Desk, mode: str) -> None:
    offered = operation(mode, port=upstream.port)
    unconfirmed = ask(offered).model_copy(update={"confirm": False})
    if TABLE[mode].needs_confirmation:
        with pytest.raises(ConfirmationRequired):
            await desk.execute(offered, unconfirmed)
        assert upstream.requests == []
    else:
        assert (await desk.execute(offered, unconfirmed)).status == 201


@EACH
@pytest.mark.req("R127")
@pytest.mark.inv("I11")
async def test_who_needs_a_ledger(upstream: Billing, desk: Desk, mode: str) -> None:
    offered = operation(mode, port=upstream.port)
    if TABLE[mode].needs_ledger:
        with pytest.raises(LedgerUnavailable):
            await desk.without_ledger().execute(offered)
        assert upstream.requests == []
        assert await desk.entries() == ()
    else:
        assert (await desk.without_ledger().execute(offered)).status == 201


@EACH
@pytest.mark.req("R128", "R129")
async def test_how_often_each_calls_and_what_it_writes(upstream: Billing, desk: Desk, mode: str) -> None:
    upstream.answers = [other.refuses(500)]
    offered = operation(mode, port=upstream.port)
    with suppress(AnvilError):  # What is told is another test's.
        await desk.execute(offered)
    assert len(upstream.requests) == TABLE[mode].calls
    assert len(desk.rows.commits) == TABLE[mode].writes


@pytest.mark.req("R105")
@pytest.mark.inv("I13")
@pytest.mark.parametrize("mode", KEYED)
async def test_the_same_request_under_its_key_is_answered_as_the_first_time(
    upstream: Billing, desk: Desk, mode: str
) -> None:
    upstream.answers = [other.answers(201, {"invoice": "i-1", "cents": 12.5, "lines": []})]
    offered = operation(mode, port=upstream.port)
    first, second = await desk.execute(offered), await desk.execute(offered)
    assert (first.status, first.result) == (201, {"invoice": "i-1", "cents": 12.5, "lines": []})
    assert (second.status, second.result) == (first.status, first.result)
    assert (first.replayed, second.replayed) == (False, True)
    assert len(upstream.made()) == 1


@pytest.mark.req("R106")
@pytest.mark.inv("I6")
@pytest.mark.parametrize("mode", KEYED)
async def test_another_request_under_the_key_conflicts_before_any_call(
    upstream: Billing, desk: Desk, mode: str
) -> None:
    offered = operation(mode, port=upstream.port)
    await desk.execute(offered)
    for other_request in (ask(offered, customer="c-2"), ask(offered, actor=BOB)):
        with pytest.raises(IdempotencyKeyReused):
            await desk.execute(offered, other_request)
    assert len(upstream.requests) == 1


@pytest.mark.req("R123")
@pytest.mark.inv("I14")
async def test_outside_of_dev_a_ledger_that_forgets_is_none(upstream: Billing, desk: Desk) -> None:
    offered = operation("required", port=upstream.port)
    assert desk.ledger is not None
    desk.ledger.durable = False
    desk.environment = "prod"
    with pytest.raises(LedgerUnavailable):
        await desk.execute(offered)
    assert upstream.requests == []
    desk.environment = "dev"
    assert (await desk.execute(offered)).status == 201
