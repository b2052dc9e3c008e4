"""The gates in their order, and that nothing leaves or is written before they are passed."""

from collections.abc import Mapping
from dataclasses import replace
from ipaddress import ip_address
from pathlib import Path

import pytest

from services.coordinator.operations.credentials import Credentials
from services.coordinator.operations.model import Operation
from services.kernel.errors import (
    AnvilError,
    Invalid,
    LedgerUnavailable,
    NotFound,
    OperationNotApproved,
    UpstreamUnavailable,
)
from services.kernel.wire.operations import ExecuteOperation
from tests.unit.coordinator.operations.billing import Billing
from tests.unit.coordinator.operations.desk import ADA, Desk, ask, catalogue, operation

pytestmark = pytest.mark.anyio

READ = """\
  - id: find-invoice
    title: Look up an invoice
    approved: true
    upstream: http://billing.test:{port}
    method: GET
    path: /v1/invoices/{{invoice}}
    query: [fields, page]
    input:
      type: object
      additionalProperties: false
      required: [invoice]
      properties:
        invoice: {{type: string}}
        fields: {{type: array, items: {{type: string}}}}
        page: {{type: integer}}
    idempotency: {{mode: natural}}
    success: [200]
    timeoutSeconds: 10
"""


def reading(upstream: Billing) -> Operation:
    (found,) = catalogue(READ.format(port=upstream.port)).operations.values()
    return found


def credentialed(offered: Operation) -> Operation:
    more = "    credential: {profile: billing, header: Authorization, scheme: Bearer}\n"
    return replace(offered, credential=operation(more=more).credential)


def asking(**changes: object) -> ExecuteOperation:
    whole: Mapping[str, object] = {"input": {"customer": "c-1"}, "idempotency_key": "key-1", "actor": ADA}
    return ExecuteOperation.model_validate({**whole, **changes})


async def test_each_gate_comes_before_the_next(desk: Desk) -> None:
    """A request that is wrong in every way is told of one thing at a time, as it gets better."""
    desk.names.answers = [(ip_address("127.0.0.1"),)]
    desk.away()
    none = replace(credentialed(operation("none")), approved=False)
    required = replace(credentialed(operation("required")), approved=False)
    told: list[str] = []

    async def execute(offered: Operation, asked: ExecuteOperation, *, name: str | None = None) -> None:
        try:
            executed = await desk.without_ledger().operations(offered).execute(name or offered.id, asked)
        except AnvilError as error:
            told.append(error.code)
        else:
            told.append(f"dry run: {executed.status}")

    await execute(none, asking(input={}), name="no-such")
    await execute(none, asking(input={}))
    none = replace(none, approved=True)
    await execute(none, asking(input={}))
    await execute(none, asking())
    await execute(none, asking(confirm=True))
    required = replace(required, approved=True)
    await execute(required, asking(idempotency_key=None))
    await execute(required, asking(dry_run=True))
    assert desk.names.asked == []
    await execute(required, asking())
    assert desk.names.asked == ["billing.test"]
    assert told == [
        "not_found",
        "operation_not_approved",
        "invalid_request",
        "confirmation_required",
        "invalid_request",
        "idempotency_key_required",
        "dry run: None",
        "ledger_unavailable",
    ]
    assert (desk.state.tries, desk.rows.calls) == (0, 0)


async def test_an_unknown_operation_is_not_found(desk: Desk) -> None:
    with pytest.raises(NotFound):
        await desk.operations(operation()).execute("make", asking())


async def test_an_operation_that_is_not_approved_is_not_executed_not_even_dry(desk: Desk) -> None:
    withdrawn = replace(operation(), approved=False)
    with pytest.raises(OperationNotApproved):
        await desk.execute(withdrawn, asking(dry_run=True))


@pytest.mark.parametrize(
    ("given", "fields"),
    [
        ({}, ["input"]),
        ({"customer": 5}, ["input.customer"]),
        ({"customer": "c", "cents": "many"}, ["input.cents"]),
        ({"customer": "c", "Idempotency-Key": "x"}, ["input"]),
    ],
)
async def test_an_input_that_does_not_fit_is_told_by_field_and_not_repeated(
    desk: Desk, given: dict[str, object], fields: list[str]
) -> None:
    with pytest.raises(Invalid) as refused:
        await desk.execute(operation(), asking(input=given))
    assert [problem.field for problem in refused.value.fields] == fields
    assert "many" not in str([refused.value.detail, refused.value.fields])


async def test_a_number_that_has_no_one_text_is_refused_with_the_way_out(upstream: Billing, desk: Desk) -> None:
    with pytest.raises(Invalid) as refused:
        await desk.execute(operation(port=upstream.port), asking(input={"customer": "c", "cents": 2**53}))
    assert "send it as text" in refused.value.detail
    assert upstream.requests == []


@pytest.mark.parametrize("key", ["", "a b", "ключ", "k" * 256, "k\n"])
async def test_what_is_no_key_is_refused(desk: Desk, key: str) -> None:
    with pytest.raises(Invalid) as refused:
        await desk.execute(operation(), asking(idempotency_key=key))
    assert [problem.field for problem in refused.value.fields] == ["Idempotency-Key"]


@pytest.mark.req("R142")
@pytest.mark.inv("I11")
@pytest.mark.parametrize("mode", ["required", "key_supported", "client_id", "natural", "none"])
async def test_a_dry_run_shows_what_would_be_sent_with_every_store_down(
    upstream: Billing, desk: Desk, mode: str
) -> None:
    desk.away()
    offered = credentialed(operation(mode, port=upstream.port))
    shown = await desk.execute(offered, ask(offered).model_copy(update={"dry_run": True}))
    assert shown.status is None
    assert shown.result == {
        "method": "POST",
        "url": f"http://billing.test:{upstream.port}/v1/invoices",
        "body": {"customer": "c-1"},
    }
    assert upstream.requests == []
    assert (desk.names.asked, desk.state.tries, desk.rows.tries) == ([], 0, 0)


@pytest.mark.req("R142")
@pytest.mark.inv("I11")
async def test_reading_goes_on_with_every_store_down_and_is_not_audited(upstream: Billing, desk: Desk) -> None:
    desk.away()
    asked = ExecuteOperation(input={"invoice": "a/b", "fields": ["x", "y&z"], "page": 2}, actor=ADA)
    assert (await desk.without_ledger().execute(reading(upstream), asked)).status == 201
    assert [request.target for request in upstream.requests] == ["/v1/invoices/a%2Fb?fields=x&fields=y%26z&page=2"]
    desk.state.away = False
    assert await desk.entries() == ()


@pytest.mark.req("R142")
@pytest.mark.parametrize("mode", ["client_id", "natural", "none"])
async def test_writes_that_need_no_ledger_go_on_with_every_store_down(upstream: Billing, desk: Desk, mode: str) -> None:
    desk.away()
    assert (await desk.execute(operation(mode, port=upstream.port))).status == 201


@pytest.mark.req("R142")
@pytest.mark.inv("I11")
@pytest.mark.parametrize("away", ["state", "rows", "both"])
@pytest.mark.parametrize("mode", ["required", "key_supported"])
async def test_writes_under_the_ledger_are_refused_with_no_call_while_a_store_is_down(
    upstream: Billing, desk: Desk, mode: str, away: str
) -> None:
    desk.state.away, desk.rows.away = away != "rows", away != "state"
    with pytest.raises(LedgerUnavailable) as refused:
        await desk.execute(operation(mode, port=upstream.port))
    assert refused.value.code == "ledger_unavailable"
    assert upstream.requests == []


async def test_an_intent_that_may_not_be_written_stops_a_write_under_the_ledger(upstream: Billing, desk: Desk) -> None:
    desk.state.away = True
    with pytest.raises(LedgerUnavailable):
        await desk.execute(operation(port=upstream.port))
    assert (upstream.requests, desk.rows.commits) == ([], [])


async def test_an_outcome_that_cannot_be_written_leaves_the_intent_and_the_answer(
    upstream: Billing, desk: Desk
) -> None:
    offered = operation(port=upstream.port)

    async def lose_the_state() -> None:
        desk.state.away = True

    desk.rows.meanwhile = lose_the_state
    assert (await desk.execute(offered)).status == 201
    desk.state.away = False
    assert await desk.audited() == [(None, None)]


@pytest.mark.parametrize("segment", ["", ".", ".."])
async def test_an_input_leads_to_no_other_path(upstream: Billing, desk: Desk, segment: str) -> None:
    with pytest.raises(Invalid) as refused:
        await desk.execute(reading(upstream), ExecuteOperation(input={"invoice": segment}, actor=ADA))
    assert [problem.field for problem in refused.value.fields] == ["input.invoice"]
    assert upstream.requests == []


@pytest.mark.parametrize(
    "content",
    [
        *(None, b"", b"\n", b"  \n", b"two\nlines\n", b"caf\xc3\xa9", b"nul\0", b"cr\r\rlf", b"x" * 20_000 + b"\0"),
        *(b"after \n", b" before", b"\ttab\n", b"x "),
    ],
)
async def test_a_credential_that_cannot_be_used_stops_the_call_by_its_profile(
    tmp_path: Path, upstream: Billing, desk: Desk, content: bytes | None
) -> None:
    folder = tmp_path / "credentials"
    folder.mkdir()
    if content is not None:
        (folder / "billing").write_bytes(content)
    desk.credentials = Credentials(folder)
    with pytest.raises(UpstreamUnavailable) as refused:
        await desk.execute(credentialed(operation(port=upstream.port)))
    assert "credential billing" in refused.value.detail
    assert "two" not in refused.value.detail
    assert (upstream.requests, desk.rows.commits, desk.state.commits) == ([], [], [])


async def test_a_credential_is_read_anew_for_each_execution(tmp_path: Path, upstream: Billing, desk: Desk) -> None:
    (tmp_path / "billing").write_text("the first\n")
    desk.credentials = Credentials(tmp_path)
    offered = credentialed(operation("natural", port=upstream.port))
    await desk.execute(offered)
    (tmp_path / "billing").write_text("second")
    await desk.execute(offered)
    assert [request.headers["authorization"] for request in upstream.requests] == ["Bearer the first", "Bearer second"]
