"""How a connection ends: in order after a whole answer, and torn down after anything else, with what it still held."""

import asyncio
import socket
import ssl
from collections.abc import Callable
from contextlib import closing
from datetime import timedelta
from ipaddress import ip_address

import pytest

from services.coordinator.operations.model import Upstream
from services.coordinator.operations.outcome import Answered, Attempt, Lost
from services.coordinator.operations.request import Outbound
from services.coordinator.operations.upstream import RESULT_LIMIT, HttpCaller
from tests.unit.coordinator.operations.desk import Names

pytestmark = pytest.mark.anyio

LOOPBACK = ip_address("127.0.0.1")
LARGE = b"x" * 8_000_000
"""More than the kernels of both sides hold."""


def listening() -> socket.socket:
    made = socket.socket()
    made.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    made.bind(("127.0.0.1", 0))
    made.listen()
    return made


async def attempt(server: socket.socket, *, body: bytes = b"{}", within: float = 0.5) -> Attempt:
    port = server.getsockname()[1]
    request = Outbound(
        upstream=Upstream(scheme="http", host=LOOPBACK, port=port, authority=f"127.0.0.1:{port}"),
        method="POST",
        target="/",
        headers={"Host": f"127.0.0.1:{port}"},
        body=body,
    )
    caller = HttpCaller(Names(), trust=ssl.create_default_context())
    return await caller.call(request, [LOOPBACK], within=timedelta(seconds=within), leaving=lambda: None)


def drained(connection: socket.socket) -> tuple[int, type[OSError] | None]:
    """How many bytes come, and how that ends: None is an end in order."""
    count = 0
    connection.settimeout(5)
    try:
        while piece := connection.recv(1 << 20):
            count += len(piece)
    except OSError as error:
        return count, type(error)
    return count, None


async def test_what_an_attempt_that_ended_still_held_never_arrives(anyio_backend: str) -> None:
    """Its time was up while the other system did not read: neither this process nor its kernel may go on sending."""
    with closing(listening()) as server:
        assert isinstance(await attempt(server, body=LARGE), Lost)
        connection, _ = await asyncio.to_thread(server.accept)
        with closing(connection):
            count, end = await asyncio.to_thread(drained, connection)
    assert end is ConnectionResetError
    assert count < len(LARGE)


def answers(head: bytes, body: bytes) -> Callable[[socket.socket], tuple[int, type[OSError] | None]]:
    def serve(server: socket.socket) -> tuple[int, type[OSError] | None]:
        connection, _ = server.accept()
        with closing(connection):
            connection.settimeout(5)
            while b"{}" not in connection.recv(65_536):
                pass
            try:
                connection.sendall(b"HTTP/1.1 200 OK\r\n" + head + b"\r\n" + body)
            except OSError as error:
                return 0, type(error)
            return drained(connection)

    return serve


@pytest.mark.parametrize(
    ("head", "body"),
    [
        (b"Content-Length: 2\r\n", b"{}"),
        (b"Content-Length: 0\r\n", b""),
        (b"Transfer-Encoding: chunked\r\n", b"2\r\n{}\r\n0\r\n\r\n"),
    ],
)
async def test_a_whole_answer_ends_the_connection_in_order(anyio_backend: str, head: bytes, body: bytes) -> None:
    """A reset would look to the other system as if nobody had heard it."""
    with closing(listening()) as server:
        serving = asyncio.create_task(asyncio.to_thread(answers(head, body), server))
        ended = await attempt(server, within=5)
        assert await serving == (0, None)
    assert isinstance(ended, Answered)


@pytest.mark.parametrize(
    ("head", "body", "expected"),
    [
        (b"Content-Length: 10\r\n", b"{}", Lost),
        (b"", b"not said how long", Lost),
        (b"Transfer-Encoding: chunked\r\n", b"2\r\n{}\r\n", Lost),
        (b"Content-Length: 99999999\r\n", b"x" * (RESULT_LIMIT + 65_536), Answered),
        (b"Content-Length: 10\r\nContent-Encoding: gzip\r\n", b"", Answered),
    ],
    ids=["half", "open", "chunks without an end", "too long", "encoded"],
)
async def test_anything_but_a_whole_answer_is_reset(
    anyio_backend: str, head: bytes, body: bytes, expected: type[Attempt]
) -> None:
    with closing(listening()) as server:
        serving = asyncio.create_task(asyncio.to_thread(answers(head, body), server))
        ended = await attempt(server, within=1)
        count, end = await serving
    assert isinstance(ended, expected)
    assert (count, end) in [(0, ConnectionResetError), (0, BrokenPipeError)]
