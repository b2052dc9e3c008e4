"""Typed calls: what goes along with one, and what becomes of every way in which it can fail."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import timedelta

import httpx2
import pytest

from services.kernel import deadline, trace
from services.kernel.client import Client
from services.kernel.errors import (
    Ambiguous,
    AnvilError,
    Conflict,
    Forbidden,
    Invalid,
    LedgerUnavailable,
    NotFound,
    Permanent,
    QueueFull,
    QueueFullForNow,
    Unauthenticated,
    Unavailable,
    UpstreamUnavailable,
)
from services.kernel.ports import IdentityToken
from services.kernel.trace import Trace
from services.kernel.web import Call, route
from services.kernel.wire.model import Empty, PageQuery
from tests.unit.kernel.service import DELETE, LIST, PING, READ, TEXT, WRITE, Note, service
from tests.unit.kernel.world import MovableClock

pytestmark = pytest.mark.anyio

Answering = Callable[[httpx2.Request], Awaitable[httpx2.Response]]


@dataclass(slots=True)
class Mint:
    """`operator`, for an hour; counts."""

    clock: MovableClock
    minted: int = 0

    async def mint(self, audience: str) -> IdentityToken:
        self.minted += 1
        return IdentityToken("operator", self.clock.now() + timedelta(hours=1))


def client(
    transport: httpx2.AsyncBaseTransport, *, clock: MovableClock | None = None, mint: Mint | None = None
) -> Client:
    clock = clock or MovableClock()
    return Client(
        httpx2.AsyncClient(transport=transport),
        base_url="http://notes/",
        audience="notes",
        minter=mint or Mint(clock),
        clock=clock,
    )


def answering(status: int, body: str | bytes = b"") -> Client:
    return client(httpx2.MockTransport(lambda request: httpx2.Response(status, content=body)))


def to_the_service() -> Client:
    return client(httpx2.ASGITransport(service()))


async def test_a_call_is_answered_as_the_service_answers_it() -> None:
    written = await to_the_service().call(WRITE, path={"note": "n1"}, body=Note(text="hi"))
    assert written == Note(text="hi")
    assert await to_the_service().call(READ, path={"note": "n/1"[:1]}) == Note(text="n")
    assert await to_the_service().call(DELETE, path={"note": "n1"}) == Empty()


async def test_a_request_of_a_get_goes_into_the_query() -> None:
    page = await to_the_service().call(LIST, body=PageQuery(page_size=3, page_token="a&b=c"))
    assert page.items == (Note(text="3"),)
    assert page.next_page_token == "a&b=c"


async def test_a_path_segment_cannot_reach_another_path() -> None:
    seen = list[bytes]()

    def keep(request: httpx2.Request) -> httpx2.Response:
        seen.append(request.url.raw_path)
        return httpx2.Response(200, json={"text": ""})

    await client(httpx2.MockTransport(keep)).call(READ, path={"note": "../x?y#z:w"})
    assert seen == [b"/notes/..%2Fx%3Fy%23z%3Aw"]


async def test_identity_trace_and_what_is_left_of_the_deadline_go_along() -> None:
    clock, seen = MovableClock(), httpx2.Headers()

    def keep(request: httpx2.Request) -> httpx2.Response:
        seen.update(request.headers)
        return httpx2.Response(200, json={})

    with trace.use(Trace(trace_id="a" * 32, span_id="b" * 16)), deadline.scope(clock, timedelta(seconds=4)):
        clock.move(timedelta(seconds=1))
        await client(httpx2.MockTransport(keep), clock=clock).call(PING, headers={"Idempotency-Key": "k"})
    assert seen["authorization"] == "Bearer operator"
    assert seen["x-serverless-authorization"] == "Bearer operator"
    assert seen["traceparent"] == f"00-{'a' * 32}-{'b' * 16}-00"
    assert seen["x-anvil-deadline-ms"] == "3000"
    assert seen["idempotency-key"] == "k"


async def test_a_token_is_kept_until_shortly_before_it_expires() -> None:
    clock = MovableClock()
    mint = Mint(clock)
    calling = client(httpx2.ASGITransport(service()), clock=clock, mint=mint)
    await calling.call(PING)
    clock.move(timedelta(minutes=58))
    await calling.call(PING)
    assert mint.minted == 1
    clock.move(timedelta(minutes=2))
    await calling.call(PING)
    assert mint.minted == 2


async def test_only_what_was_set_is_sent() -> None:
    seen = list[bytes]()

    def keep(request: httpx2.Request) -> httpx2.Response:
        seen.append(request.content)
        return httpx2.Response(200, json={"text": "hi"})

    await client(httpx2.MockTransport(keep)).call(WRITE, path={"note": "n1"}, body=Note(text="hi"))
    assert seen == [b'{"text":"hi"}']


# What goes wrong


@pytest.mark.parametrize(
    "error",
    [
        NotFound("no such note"),
        Conflict("it changed"),
        QueueFull("20 runs wait"),
        QueueFullForNow("20 runs wait"),
        Unauthenticated("who?"),
        Forbidden("not you"),
        Invalid("what?"),
        LedgerUnavailable("nobody was called"),
        UpstreamUnavailable("nothing was sent"),
    ],
)
async def test_an_error_over_there_is_the_same_error_here(error: AnvilError) -> None:
    async def fail(call: Call[Empty]) -> Empty:
        raise error

    with pytest.raises(type(error)) as raised:
        await client(httpx2.ASGITransport(service(route(PING, fail)))).call(PING)
    assert type(raised.value) is type(error)
    assert raised.value.detail == error.detail


async def test_refused_fields_the_wait_and_the_ledger_row_come_along() -> None:
    body = (
        '{"type":"about:blank","code":"too_many_requests","detail":"slow down","retryable":true,'
        '"retryAfterSeconds":7,"errors":[{"field":"a","message":"b"}],"ledgerRef":"firestore/a/b"}'
    )
    with pytest.raises(AnvilError) as raised:
        await answering(429, body).call(PING)
    assert raised.value.retry_after == timedelta(seconds=7)
    assert [(each.field, each.message) for each in raised.value.fields] == [("a", "b")]
    assert raised.value.ledger_ref == "firestore/a/b"


async def test_an_unavailable_service_may_have_applied_a_write_but_not_a_read() -> None:
    away = '{"code":"unavailable","detail":"the store is away","retryable":true}'
    with pytest.raises(Ambiguous):
        await answering(503, away).call(PING)
    with pytest.raises(Unavailable):
        await answering(503, away).call(READ, path={"note": "n1"})


async def test_an_error_inside_the_other_side_may_have_come_after_the_write() -> None:
    with pytest.raises(Ambiguous):
        await answering(500, '{"code":"internal","detail":"","retryable":false}').call(PING)


@pytest.mark.parametrize(("retryable", "kind"), [("true", Ambiguous), ("false", Permanent)])
async def test_a_code_from_a_newer_service_keeps_its_retry_policy(retryable: str, kind: type[AnvilError]) -> None:
    with pytest.raises(kind):
        await answering(409, f'{{"code":"brand_new","detail":"","retryable":{retryable}}}').call(PING)


@pytest.mark.parametrize(
    ("status", "kind"), [(403, Unavailable), (404, Unavailable), (502, Ambiguous), (503, Ambiguous)]
)
async def test_an_answer_from_something_in_between_is_no_decision(status: int, kind: type[AnvilError]) -> None:
    with pytest.raises(kind):
        await answering(status, "<html>no</html>").call(PING)


@pytest.mark.parametrize("body", [b"", b"<html>", b"[]", b'{"text": 1}'])
async def test_a_success_that_is_not_understood_may_have_happened(body: bytes) -> None:
    with pytest.raises(Ambiguous):
        await answering(200, body).call(READ, path={"note": "n1"})


async def test_a_redirect_is_not_followed() -> None:
    redirect = httpx2.MockTransport(lambda request: httpx2.Response(307, headers={"Location": "http://evil/"}))
    with pytest.raises(Ambiguous):
        await client(redirect).call(PING)


@pytest.mark.parametrize(
    ("failure", "kind"),
    [
        (httpx2.ConnectError("refused"), Unavailable),
        (httpx2.ConnectTimeout("slow"), Unavailable),
        (httpx2.PoolTimeout("busy"), Unavailable),
        (httpx2.ReadTimeout("slow"), Ambiguous),
        (httpx2.WriteError("cut"), Ambiguous),
        (httpx2.ReadError("cut"), Ambiguous),
        (httpx2.RemoteProtocolError("cut"), Ambiguous),
    ],
)
async def test_what_was_surely_not_sent_did_not_happen_and_the_rest_may_have(
    failure: httpx2.TransportError, kind: type[AnvilError]
) -> None:
    def fail(request: httpx2.Request) -> httpx2.Response:
        raise failure

    with pytest.raises(kind):
        await client(httpx2.MockTransport(fail)).call(PING)


async def test_nothing_is_sent_after_the_deadline() -> None:
    clock = MovableClock()

    def sent(request: httpx2.Request) -> httpx2.Response:
        raise AssertionError("it was sent")

    with deadline.scope(clock, timedelta()), pytest.raises(Unavailable):
        await client(httpx2.MockTransport(sent), clock=clock).call(PING)


async def test_text_is_not_parsed() -> None:
    assert await to_the_service().call(TEXT) == Empty()
