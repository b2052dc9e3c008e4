"""What is told and kept of an answer: whole to the caller, redacted in the row, and within limits."""

import json
from dataclasses import replace

import pytest

from services.kernel.errors import IdempotencyInProgress
from services.kernel.wire.ledger import LedgerQuery, RowStatus
from services.kernel.wire.operations import RESULT_CEILING
from tests.unit.coordinator.operations import billing as other
from tests.unit.coordinator.operations.billing import LIMIT, Billing
from tests.unit.coordinator.operations.desk import Desk, ask, operation

pytestmark = pytest.mark.anyio


async def status_of_the_row(desk: Desk) -> RowStatus:
    assert desk.ledger is not None
    (row,) = (await desk.ledger.page(LedgerQuery())).items
    return row.status


@pytest.mark.parametrize(
    ("body", "result"),
    [
        (b"", None),
        (b"null", None),
        (b'{"a": [1, 2.5, true, null, "\xc3\xbc"]}', {"a": [1, 2.5, True, None, "ü"]}),
        (b"  3 ", 3),
        (b"created", "created"),
        (b"<html>", "<html>"),
        (b'{"cents": NaN}', '{"cents": NaN}'),
        (b'{"a": 1, "a": 2}', '{"a": 1, "a": 2}'),
        (b'"\\ud800"', '"\\ud800"'),
        (b"1" * 30, "1" * 30),
        (b"caf\xe9", "caf\ufffd"),
        (b"\xef\xbb\xbf{}", "\ufeff{}"),
    ],
)
async def test_an_answer_is_json_or_text_or_null_now_and_when_replayed(
    upstream: Billing, desk: Desk, body: bytes, result: object
) -> None:
    upstream.answers = [other.answers(200, body)]
    offered = operation(port=upstream.port)
    first, second = await desk.execute(offered), await desk.execute(offered)
    assert first.result == result
    assert (second.result, second.replayed) == (result, True)


def text_of(size: int, character: str = "x") -> str:
    """Text whose JSON has this many bytes."""
    width = len(character.encode())
    count, rest = divmod(size - 2, width)
    return character * count + "x" * rest


@pytest.mark.req("R110")
@pytest.mark.inv("I9")
@pytest.mark.parametrize("character", ["x", "ü", "𝄞"])
@pytest.mark.parametrize(("size", "fits"), [(RESULT_CEILING, True), (RESULT_CEILING + 1, False)])
async def test_a_result_that_no_row_holds_is_the_callers_success_and_stops_the_key(
    upstream: Billing, desk: Desk, size: int, fits: bool, character: str
) -> None:
    text = text_of(size, character)
    upstream.answers = [other.answers(201, json.dumps(text, ensure_ascii=False).encode())]
    offered = operation(port=upstream.port)
    executed = await desk.execute(offered)
    assert (executed.status, executed.result) == (201, text)
    if fits:
        assert executed.ledger_ref is None
        assert await status_of_the_row(desk) is RowStatus.COMPLETED
        assert (await desk.execute(offered)).result == text
    else:
        assert await status_of_the_row(desk) is RowStatus.IN_PROGRESS
        with pytest.raises(IdempotencyInProgress) as later:
            await desk.execute(offered)
        assert later.value.ledger_ref == executed.ledger_ref
    assert len(upstream.requests) == 1


@pytest.mark.parametrize(("size", "is_read"), [(LIMIT, True), (LIMIT + 1, False), (6 * 1024 * 1024, False)])
async def test_an_answer_that_is_too_long_is_not_read_and_a_success_all_the_same(
    upstream: Billing, desk: Desk, size: int, is_read: bool
) -> None:
    upstream.answers = [other.answers(201, b"x" * size)]
    executed = await desk.execute(operation(port=upstream.port))
    assert executed.status == 201
    assert (executed.result == "x" * size) is is_read
    assert executed.result is not None or not is_read
    assert executed.ledger_ref is not None
    assert await status_of_the_row(desk) is RowStatus.IN_PROGRESS
    assert await desk.audited() == [("done", None)]


async def test_an_answer_in_an_encoding_that_nobody_asked_for_is_not_unfolded(upstream: Billing, desk: Desk) -> None:
    upstream.answers = [other.answers(201, b"\x1f\x8b not looked at", Content_Encoding="gzip")]
    executed = await desk.execute(operation(port=upstream.port))
    assert (executed.status, executed.result) == (201, None)
    assert executed.ledger_ref is not None
    assert [request.headers["accept-encoding"] for request in upstream.requests] == ["identity"]


@pytest.mark.inv("K2")
async def test_what_is_secret_in_an_answer_is_told_once(upstream: Billing, desk: Desk) -> None:
    answer = {"invoice": "i-1", "token": "s3cret", "lines": [{"pin": 1}, {"pin": 2}], "deep": {"a/b": "s3cret"}}
    upstream.answers = [other.answers(201, answer)]
    offered = replace(operation(port=upstream.port), redact=("/token", "/lines/*/pin", "/deep/a~1b", "/none/there"))
    first, second = await desk.execute(offered), await desk.execute(offered)
    assert first.result == answer
    assert second.result == {
        "invoice": "i-1",
        "token": "[redacted]",
        "lines": [{"pin": "[redacted]"}, {"pin": "[redacted]"}],
        "deep": {"a/b": "[redacted]"},
    }
    as_stored = await desk.execute(replace(offered, redact=()))
    assert as_stored.result == second.result


@pytest.mark.inv("K2")
async def test_of_an_answer_that_cannot_be_walked_nothing_is_kept_where_it_may_have_a_secret(
    upstream: Billing, desk: Desk
) -> None:
    upstream.answers = [other.answers(201, b'{"token": "s3cret", "cents": NaN}')]
    offered = replace(operation(port=upstream.port), redact=("/token",))
    first, second = await desk.execute(offered), await desk.execute(offered)
    assert first.result == '{"token": "s3cret", "cents": NaN}'
    assert second.result == "[redacted]"
    as_stored = await desk.execute(replace(offered, redact=()))
    assert as_stored.result == "[redacted]"


@pytest.mark.inv("K2")
@pytest.mark.parametrize(
    ("body", "replayed"),
    [
        (b'{"token": "s3cret", "invoice": 1}', {"token": "[redacted]", "invoice": 1}),
        (b"token=s3cret", "[redacted]"),
        (b'{"invoice": 1}', {"invoice": 1}),
        (b"", None),
    ],
)
async def test_what_is_found_to_be_secret_later_is_not_replayed_either(
    upstream: Billing, desk: Desk, body: bytes, replayed: object
) -> None:
    upstream.answers = [other.answers(201, body)]
    offered = operation(port=upstream.port)
    await desk.execute(offered)
    again = await desk.execute(replace(offered, redact=("/token",)))
    assert (again.replayed, again.result) == (True, replayed)
    assert len(upstream.requests) == 1


async def test_another_key_is_another_call(upstream: Billing, desk: Desk) -> None:
    offered = operation(port=upstream.port)
    await desk.execute(offered, ask(offered, key="a"))
    assert not (await desk.execute(offered, ask(offered, key="b"))).replayed
    assert len(upstream.made()) == 2
