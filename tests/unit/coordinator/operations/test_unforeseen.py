"""What nobody foresaw, around a call: nobody is told that asking again is safe where it may not be."""

import ssl
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from ipaddress import ip_address

import pytest

from services.coordinator.operations.model import Operation
from services.coordinator.operations.outcome import Attempt, NeverSent
from services.coordinator.operations.request import LONGEST_TARGET, Outbound
from services.coordinator.operations.upstream import HttpCaller
from services.kernel.addresses import Address
from services.kernel.errors import Ambiguous, AnvilError, Invalid, OperationOutcomeUnknown, OutcomeUnknown
from services.kernel.strict_json import JsonValue
from services.kernel.wire.ledger import LedgerQuery, RowStatus
from services.kernel.wire.operations import ExecuteOperation
from tests.unit.coordinator.operations.billing import Billing
from tests.unit.coordinator.operations.desk import ADA, KEYED, MODES, Desk, Names, ask, catalogue, operation

pytestmark = pytest.mark.anyio

SHORT = timedelta(seconds=2)

PLACED = """\
  - id: place
    title: Place an order
    approved: true
    upstream: http://billing.test:{port}/base
    method: POST
    path: /{{where}}
    query: [also]
    input:
      type: object
      additionalProperties: false
      required: [where]
      properties: {{where: {{type: string}}, also: {{}}, rest: {{type: string}}}}
    idempotency: {{mode: required, carrier: {{in: query, name: key}}}}
    success: [201]
    timeoutSeconds: 5
"""


@dataclass(slots=True)
class Broken:
    """Implements `Caller`, wrongly: nobody foresaw what it raises."""

    calls: int = 0

    async def resolve(self, host: str | Address) -> Sequence[Address]:
        return (ip_address("127.0.0.1"),)

    async def call(
        self, request: Outbound, found: Sequence[Address], *, within: timedelta, leaving: Callable[[], None]
    ) -> Attempt:
        self.calls += 1
        raise RuntimeError


def placed(upstream: Billing) -> Operation:
    (found,) = catalogue(PLACED.format(port=upstream.port)).operations.values()
    return found


def asking(**input_: JsonValue) -> ExecuteOperation:
    return ExecuteOperation(input=input_, idempotency_key="key-1", actor=ADA)


@pytest.mark.parametrize(
    ("given", "named"),
    [
        ({"where": "a" * 70_000}, "input.where"),
        ({"where": "a", "also": "b" * 70_000}, "input.also"),
        ({"where": "a", "also": ["b"] * 5_000}, "input.also"),
        ({"where": "é" * 2_000}, "input.where"),
        ({"where": "a" * 4_000, "also": "b" * 5_000, "rest": "c" * 9_000}, "input.also"),
    ],
)
async def test_what_no_server_would_take_as_a_target_is_refused_before_anything_is_written(
    upstream: Billing, desk: Desk, given: dict[str, JsonValue], named: str
) -> None:
    for dry_run in (True, False):
        asked = asking(**given).model_copy(update={"dry_run": dry_run})
        with pytest.raises(Invalid, match="cannot be sent") as refused:
            await desk.execute(placed(upstream), asked)
        assert [problem.field for problem in refused.value.fields] == [named]
    assert (upstream.requests, desk.rows.commits, desk.state.commits) == ([], [], [])


async def test_a_target_may_be_as_long_as_most_servers_take(upstream: Billing, desk: Desk) -> None:
    around = len("/base/?key=") + 64
    longest = "a" * (LONGEST_TARGET - around)
    assert (await desk.execute(placed(upstream), asking(where=longest))).status == 201
    assert [len(request.target) for request in upstream.requests] == [8192]
    with pytest.raises(Invalid):
        await desk.execute(placed(upstream), asking(where=f"{longest}a"))


@pytest.mark.inv("I10")
async def test_what_goes_wrong_before_a_request_leaves_is_known_to_have_done_nothing(upstream: Billing) -> None:
    def fails() -> None:
        raise RuntimeError

    caller, found = HttpCaller(Names(), trust=ssl.create_default_context()), [ip_address("127.0.0.1")]
    fine = Outbound(upstream=placed(upstream).upstream, method="POST", target="/", headers={"Host": "x"}, body=b"{}")
    too_long = replace(fine, target="/" + "a" * 70_000)
    assert await caller.call(too_long, found, within=SHORT, leaving=lambda: None) == NeverSent(why="InvalidURL")
    assert await caller.call(fine, found, within=SHORT, leaving=fails) == NeverSent(why="RuntimeError")
    assert upstream.requests == []


@pytest.mark.inv("I10")
async def test_a_request_that_cannot_be_written_down_has_not_left(upstream: Billing) -> None:
    """What the credential's gate let through once: HTTP has no way to say it, and not a byte of it was sent."""
    caller, found = HttpCaller(Names(), trust=ssl.create_default_context()), [ip_address("127.0.0.1")]
    for headers in ({"Host": "x", "Authorization": "Bearer s3cret "}, {"Host": "x", "X-Bad": "a\nb"}, {"a b": "x"}):
        request = Outbound(upstream=placed(upstream).upstream, method="POST", target="/", headers=headers, body=b"{}")
        attempt = await caller.call(request, found, within=SHORT, leaving=lambda: None)
        assert attempt == NeverSent(why="LocalProtocolError")
    assert upstream.requests == []


UNKNOWN: dict[str, type[AnvilError]] = {
    "required": OutcomeUnknown,
    "key_supported": OutcomeUnknown,
    "client_id": Ambiguous,
    "natural": Ambiguous,
    "none": OperationOutcomeUnknown,
}


@pytest.mark.inv("I10")
@pytest.mark.parametrize("mode", MODES)
async def test_an_end_that_nobody_foresaw_is_an_unknown_one(desk: Desk, mode: str) -> None:
    desk.caller = Broken()
    with pytest.raises(AnvilError) as told:
        await desk.execute(operation(mode))
    assert type(told.value) is UNKNOWN[mode]
    assert await desk.audited() == [("unknown", told.value.code)]
    assert desk.ledger is not None
    rows = (await desk.ledger.page(LedgerQuery())).items
    assert [row.status for row in rows] == ([RowStatus.IN_PROGRESS] if mode in KEYED else [])
    assert [row.ledger_ref for row in rows] == ([told.value.ledger_ref] if mode in KEYED else [])
    if mode in KEYED:
        assert told.value.retryable is False


async def test_a_key_without_a_ledger_is_told_of_by_what_the_key_makes_safe(desk: Desk) -> None:
    desk.caller = Broken()
    offered = operation("key_supported")
    with pytest.raises(Ambiguous):
        await desk.without_ledger().execute(offered)
    with pytest.raises(OperationOutcomeUnknown):
        await desk.without_ledger().execute(offered, ask(offered).model_copy(update={"idempotency_key": None}))


async def test_an_audit_that_fails_as_nobody_foresaw_takes_no_answer_away(upstream: Billing, desk: Desk) -> None:
    async def lose_the_audit() -> None:
        async def fails() -> None:
            raise RuntimeError

        desk.state.meanwhile = fails

    desk.rows.meanwhile = lose_the_audit
    assert (await desk.execute(replace(operation(port=upstream.port), attempts=1))).status == 201
    assert await desk.audited() == [(None, None)]
