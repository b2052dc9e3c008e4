"""Hostile transport, over a real socket to a real server: big, lying, slow, cut and malformed requests."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import timedelta

import pytest
from starlette.requests import Request

from services.kernel.adapters.clock import SystemClock, SystemIds
from services.kernel.endpoint import Audience, Endpoint
from services.kernel.web import Call, Caller, application, route
from services.kernel.web.serving import AnyEndpoint
from services.kernel.wire.model import Empty, Wire
from tests.contract.serving import served

pytestmark = pytest.mark.anyio

LIMIT = 64 * 1024
PATIENCE = timedelta(milliseconds=300)


class Said(Wire):
    text: str


SAY = Endpoint(method="POST", path="/say", summary="", request=Said, response=Empty, audience=Audience.PUBLIC)
SECRET = Endpoint(method="POST", path="/secret", summary="", request=Said, response=Empty, audience=Audience.HOOKS)


@dataclass(slots=True)
class Service:
    """Keeps what came through to its handler."""

    heard: list[str] = field(default_factory=list[str])
    guarded: list[str] = field(default_factory=list[str])

    async def say(self, call: Call[Said]) -> Empty:
        self.heard.append(call.body.text)
        return Empty()

    async def guard(self, request: Request, endpoint: AnyEndpoint) -> Caller:
        self.guarded.append(endpoint.path)
        return Caller(email="hooks@anvil.local")

    @asynccontextmanager
    async def serving(self) -> AsyncGenerator["Connection"]:
        app = application(
            service="transport",
            served=[route(SAY, self.say), route(SECRET, self.say)],
            guard=self.guard,
            ready=_ready,
            clock=SystemClock(),
            ids=SystemIds(),
            body_limit=LIMIT,
            body_within=PATIENCE,
        )
        async with served(app) as (url,):
            host, _, port = url.removeprefix("http://").partition(":")
            reader, writer = await asyncio.open_connection(host, int(port))
            try:
                yield Connection(reader, writer)
            finally:
                writer.transport.abort()


@dataclass(frozen=True, slots=True)
class Connection:
    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter

    async def send(self, raw: bytes) -> None:
        self.writer.write(raw)
        await self.writer.drain()

    async def status(self) -> int:
        """Of the next answer, whose headers and body are skipped; none within five seconds is a failure."""
        async with asyncio.timeout(5):
            head = await self.reader.readuntil(b"\r\n\r\n")
            lines = head.decode("latin-1").lower().split("\r\n")
            lengths = [int(line.partition(":")[2]) for line in lines if line.startswith("content-length:")]
            await self.reader.readexactly(sum(lengths))
        return int(lines[0].split()[1])

    async def ended(self) -> bool:
        """Whether the server closes the connection."""
        async with asyncio.timeout(5):
            return await self.reader.read() == b""


async def _ready() -> None:
    return


@pytest.fixture
def service() -> Service:
    return Service()


@pytest.fixture
async def connection(service: Service) -> AsyncIterator[Connection]:
    async with service.serving() as opened:
        yield opened


def request(body: bytes = b"", *headers: str, path: str = "/say") -> bytes:
    lines = [f"POST {path} HTTP/1.1", "Host: anvil", "Content-Type: application/json", *headers, "", ""]
    return "\r\n".join(lines).encode("latin-1") + body


def length(number: int) -> str:
    return f"Content-Length: {number}"


def chunk(data: bytes) -> bytes:
    return b"%x\r\n%s\r\n" % (len(data), data)


CHUNKED = "Transfer-Encoding: chunked"
HELLO = b'{"text": "hello"}'


async def test_a_body_in_chunks_is_one_body(connection: Connection, service: Service) -> None:
    await connection.send(request(chunk(HELLO[:5]) + chunk(HELLO[5:]) + chunk(b""), CHUNKED))
    assert await connection.status() == 200
    assert service.heard == ["hello"]


async def test_a_body_that_says_it_is_too_large_is_refused_before_it_comes(connection: Connection) -> None:
    await connection.send(request(b"", length(10**12)))
    assert await connection.status() == 413


@pytest.mark.threat("A12")
async def test_a_body_without_a_length_is_refused_while_it_comes(connection: Connection) -> None:
    await connection.send(request(chunk(b'{"text": "'), CHUNKED))
    for _ in range(5):
        await connection.send(chunk(b"x" * 16 * 1024))
    assert await connection.status() == 413


@pytest.mark.parametrize("chunked", [False, True], ids=["length", "chunks"])
async def test_whoever_sends_all_of_a_body_that_is_too_large_can_read_so_afterwards(
    connection: Connection, service: Service, chunked: bool
) -> None:
    """The answer comes at once, the rest is thrown away, and the connection may be used again."""
    piece, pieces = b"x" * LIMIT, 64
    await connection.send(request(b"", CHUNKED if chunked else length(len(piece) * pieces)))
    for _ in range(pieces):
        await connection.send(chunk(piece) if chunked else piece)
    await connection.send(chunk(b"") if chunked else b"")
    assert await connection.status() == 413

    await connection.send(request(HELLO, length(len(HELLO))))
    assert await connection.status() == 200
    assert service.heard == ["hello"]


async def test_the_limit_counts_bytes_as_they_are_sent(connection: Connection, service: Service) -> None:
    escaped, plain = "\\u00e9" * (LIMIT // 6), "é" * (LIMIT // 6)
    await connection.send(request(raw := f'{{"text":"{escaped}"}}'.encode(), length(len(raw))))
    assert await connection.status() == 413
    await connection.send(request(raw := f'{{"text":"{plain}"}}'.encode(), length(len(raw))))
    assert await connection.status() == 200
    assert service.heard == [plain]


async def test_a_body_that_is_not_utf_8_is_refused(connection: Connection, service: Service) -> None:
    await connection.send(request(raw := b'{"text": "caf\xe9"}', length(len(raw))))
    assert await connection.status() == 400
    assert service.heard == []


async def test_a_body_longer_than_it_says_gives_no_more_than_it_said(connection: Connection, service: Service) -> None:
    await connection.send(request(HELLO + b"x" * 200_000, length(len(HELLO))))
    # The surplus reads as a malformed second request, and its refusal may overtake the first answer.
    assert await connection.status() in (200, 400)
    assert service.heard in ([], ["hello"])


async def test_two_lengths_are_refused(connection: Connection, service: Service) -> None:
    await connection.send(request(HELLO, length(len(HELLO)), length(3)))
    assert await connection.status() == 400
    assert service.heard == []


async def test_a_body_of_exactly_the_limit_is_taken(connection: Connection, service: Service) -> None:
    text = "x" * (LIMIT - len('{"text":""}'))
    await connection.send(request(f'{{"text":"{text}"}}'.encode(), length(LIMIT)))
    assert await connection.status() == 200
    assert service.heard == [text]


async def test_a_body_that_stalls_is_given_up(connection: Connection, service: Service) -> None:
    await connection.send(request(b"{", length(len(HELLO))))
    assert await connection.status() == 408
    assert await connection.ended()
    assert service.heard == []


@pytest.mark.threat("A19")
async def test_a_body_that_drips_is_given_up_all_the_same(connection: Connection) -> None:
    await connection.send(request(b"", length(1000)))

    async def drip() -> None:
        clock = SystemClock()
        for _ in range(1000):
            await connection.send(b" ")
            await clock.sleep(PATIENCE / 10)

    dripping = asyncio.create_task(drip())
    assert await connection.status() == 408
    dripping.cancel()


async def test_a_connection_that_is_cut_is_nobodys_error(
    service: Service, caplog: pytest.LogCaptureFixture, capsys: pytest.CaptureFixture[str]
) -> None:
    async with service.serving() as connection:
        await connection.send(request(b"{", length(len(HELLO))))
        connection.writer.transport.abort()
    assert service.heard == []
    said = "".join(capsys.readouterr()) + caplog.text
    assert "the client went away" in said
    assert "Traceback" not in said


@pytest.mark.parametrize(
    "raw",
    [
        pytest.param(request(HELLO, length(len(HELLO)), "X-Evil: a\x00b"), id="NUL in a header"),
        pytest.param(b"POST /say HTTP/1.1\r\nHost: anvil\r\nContent-Length: -1\r\n\r\n", id="negative length"),
        pytest.param(b"POST /say HTTP/1.1\r\nHost: anvil\r\nContent-Length: +3\r\n\r\n{}", id="signed length"),
        pytest.param(b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n", id="TLS"),
        pytest.param(b"GARBAGE\r\n\r\n", id="garbage"),
    ],
)
async def test_what_is_not_http_is_refused(connection: Connection, service: Service, raw: bytes) -> None:
    await connection.send(raw)
    assert await connection.status() == 400
    assert service.heard == []


@pytest.mark.parametrize(
    "smuggled",
    [
        pytest.param(request(b"0\r\n\r\nGET /livez HTTP/1.1\r\n\r\n", length(3), CHUNKED), id="length and chunks"),
        pytest.param(request(b"zz\r\n", CHUNKED), id="a chunk of no size"),
        pytest.param(request(b"3", "Transfer-Encoding: xchunked", length(1)), id="an unknown coding"),
    ],
)
async def test_a_smuggled_request_reaches_no_handler(connection: Connection, service: Service, smuggled: bytes) -> None:
    await connection.send(smuggled)
    assert await connection.status() in (400, 408)
    assert service.heard == []


@pytest.mark.threat("A20")
@pytest.mark.parametrize("path", ["//secret", "/./secret", "/secret/", "/SECRET", "/%73ecret", "http://evil/secret"])
async def test_an_odd_spelling_of_a_path_does_not_get_around_its_guard(
    connection: Connection, service: Service, path: str
) -> None:
    await connection.send(request(HELLO, length(len(HELLO)), path=path))
    reached = await connection.status() == 200
    assert service.guarded == (["/secret"] if reached else [])


@pytest.mark.parametrize("header", ["Authorization: Bearer \xe9\xff", "Content-Type: \xff", "traceparent: \xff\xfe"])
async def test_header_bytes_that_are_not_ascii_break_nothing(connection: Connection, header: str) -> None:
    await connection.send(request(HELLO, length(len(HELLO)), header))
    assert await connection.status() in (200, 415)
