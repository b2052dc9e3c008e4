"""Another system: a real server on loopback that writes down what it did, and answers as a test wants it to."""

import asyncio
import json
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeAlias

LIMIT = 5 * 1024 * 1024
"""Bytes that Anvil reads of an answer."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    method: str
    target: str
    headers: Mapping[str, str]
    body: bytes

    @property
    def key(self) -> str | None:
        return self.headers.get("idempotency-key")


@dataclass(slots=True)
class Billing:
    """`effects` is append-only: a line for each invoice made, and a key makes one. `answers` are used one by one."""

    effects: Path
    answers: list["Answer"] = field(default_factory=list["Answer"])
    requests: list[Request] = field(default_factory=list[Request])
    port: int = 0
    hold: asyncio.Event = field(default_factory=asyncio.Event)
    arrived: asyncio.Event = field(default_factory=asyncio.Event)

    def made(self) -> list[str]:
        return self.effects.read_text().splitlines() if self.effects.exists() else []

    def act(self, request: Request) -> None:
        if request.key is None or request.key not in self.made():
            with self.effects.open("a") as file:
                file.write(f"{request.key or 'no key'}\n")

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(ConnectionError, asyncio.IncompleteReadError):
            request = await _request(reader)
            self.requests.append(request)
            self.arrived.set()
            answer = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
            await answer(self, request, writer)
            await writer.drain()
        writer.close()


Answer: TypeAlias = Callable[[Billing, Request, asyncio.StreamWriter], Awaitable[None]]


@asynccontextmanager
async def billing(effects: Path) -> AsyncGenerator[Billing]:
    made = Billing(effects, [answers(201, {"invoice": "i-1"})])
    server = await asyncio.start_server(made.serve, "127.0.0.1", 0, limit=2**22)
    made.port = server.sockets[0].getsockname()[1]
    try:
        yield made
    finally:
        made.hold.set()
        server.close()
        await server.wait_closed()


def answers(status: int, body: object = None, *, acts: bool = True, **headers: str) -> Answer:
    """It answers this, having done it or not."""
    raw = body if isinstance(body, bytes) else b"" if body is None else json.dumps(body).encode()

    async def answer(upstream: Billing, request: Request, writer: asyncio.StreamWriter) -> None:
        if acts:
            upstream.act(request)
        writer.write(_head(status, len(raw), headers) + raw)

    return answer


def refuses(status: int, body: object = None, **headers: str) -> Answer:
    """It answers this and does nothing."""
    return answers(status, body, acts=False, **headers)


def drops(*, acts: bool) -> Answer:
    """The connection is reset instead of an answer."""

    async def answer(upstream: Billing, request: Request, writer: asyncio.StreamWriter) -> None:
        if acts:
            upstream.act(request)
        writer.transport.abort()

    return answer


async def does_and_hangs(upstream: Billing, request: Request, writer: asyncio.StreamWriter) -> None:
    """It acts, and its answer comes when the test lets it."""
    upstream.act(request)
    await upstream.hold.wait()
    body = b'{"invoice": "i-1"}'
    writer.write(_head(201, len(body), {}) + body)


async def answers_half(upstream: Billing, request: Request, writer: asyncio.StreamWriter) -> None:
    """It acts, promises more than it sends, and is gone."""
    upstream.act(request)
    writer.write(_head(201, 1000, {}) + b'{"invoice": "i-')
    await writer.drain()
    writer.transport.abort()


async def _request(reader: asyncio.StreamReader) -> Request:
    head = (await reader.readuntil(b"\r\n\r\n")).decode().split("\r\n")
    method, target, _ = head[0].split(" ")
    headers = {name.lower(): value for name, _, value in (line.partition(": ") for line in head[1:] if line)}
    body = await reader.readexactly(int(headers.get("content-length", "0")))
    return Request(method=method, target=target, headers=headers, body=body)


def _head(status: int, length: int, headers: Mapping[str, str]) -> bytes:
    lines = [f"HTTP/1.1 {status} Whatever", f"Content-Length: {length}"]
    lines += [f"{name.replace('_', '-')}: {value}" for name, value in headers.items()]
    return ("\r\n".join(lines) + "\r\n\r\n").encode()
