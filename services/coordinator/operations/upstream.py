"""Other systems, as executions reach them: one resolution, one connection an attempt, and what certainly never left."""

import asyncio
import socket
import ssl
import struct
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from datetime import timedelta
from typing import Final, Protocol, runtime_checkable

import httpx2

from services.coordinator.operations.outcome import Answered, Attempt, Lost, NeverSent
from services.coordinator.operations.request import Outbound
from services.kernel import strict_json
from services.kernel.addresses import Address
from services.kernel.errors import Unavailable, UpstreamUnavailable
from services.kernel.ports import Resolver
from services.kernel.strict_json import JsonValue, NotStrictJson

RESULT_LIMIT: Final = 5 * 1024 * 1024
"""Bytes that are read of an answer."""

_RESOLVE_WITHIN: Final = timedelta(seconds=5)
_CONNECT_WITHIN: Final = timedelta(seconds=5)
_MOST_ADDRESSES: Final = 4

_RESET: Final = (socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
"""Closing the connection drops what has not left this machine, and resets it; so does the death of the process."""

_LET_GO: Final = (socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 0, 0))


class TooLate(Exception):
    """An attempt may not begin any more."""


class Caller(Protocol):
    """Calls other systems. Follows no redirect, uses no proxy, repeats nothing."""

    async def resolve(self, host: str | Address) -> Sequence[Address]:
        """What the host stands for. Asked once an execution; what was judged is what is called.

        Raises:
            UpstreamUnavailable: nothing, or nobody knows.
        """
        ...

    async def call(
        self, request: Outbound, found: Sequence[Address], *, within: timedelta, leaving: Callable[[], None]
    ) -> Attempt:
        """One attempt, at one of the addresses; the next is tried only if nothing left for the one before.

        `leaving` is asked right before the first byte of the request; if it raises TooLate, nothing is sent.
        """
        ...


class Nowhere:
    """Implements `Caller` where no catalogue is configured."""

    async def resolve(self, host: str | Address) -> Sequence[Address]:
        raise UpstreamUnavailable("this deployment calls no other systems")

    async def call(
        self, request: Outbound, found: Sequence[Address], *, within: timedelta, leaving: Callable[[], None]
    ) -> Attempt:
        return NeverSent(why="this deployment calls no other systems")


class HttpCaller:
    """Implements `Caller` over HTTP/1.1. `trust` is whose certificates are believed, for the host's name."""

    def __init__(self, resolver: Resolver, *, trust: ssl.SSLContext) -> None:
        self._resolver = resolver
        self._trust = trust

    async def resolve(self, host: str | Address) -> Sequence[Address]:
        if not isinstance(host, str):
            return (host,)
        try:
            async with asyncio.timeout(_RESOLVE_WITHIN.total_seconds()):
                return await self._resolver.resolve(host)
        except TimeoutError as error:
            raise UpstreamUnavailable(f"{host} was not resolved in time") from error
        except Unavailable as error:
            raise UpstreamUnavailable(error.detail) from error

    async def call(
        self, request: Outbound, found: Sequence[Address], *, within: timedelta, leaving: Callable[[], None]
    ) -> Attempt:
        attempt: Attempt = NeverSent(why="no address")
        passage = _Passage(leaving)
        try:
            async with asyncio.timeout(within.total_seconds()):
                for address in found[:_MOST_ADDRESSES]:
                    attempt = await self._at(address, request, passage, within=within)
                    if not isinstance(attempt, NeverSent):
                        break
        except TimeoutError as error:
            return passage.failed(error)
        return attempt

    async def _at(self, address: Address, request: Outbound, passage: "_Passage", *, within: timedelta) -> Attempt:
        try:
            async with self._opened(address, request, passage, within=within) as answer:
                return await _read(answer)
        except TooLate:
            return NeverSent(why="too late to begin")
        except Exception as error:  # noqa: BLE001 (whatever it is, what counts is whether the request began to leave)
            return passage.failed(error)

    @asynccontextmanager
    async def _opened(
        self, address: Address, request: Outbound, passage: "_Passage", *, within: timedelta
    ) -> AsyncGenerator[httpx2.Response]:
        upstream = request.upstream
        # A connection of its own: one that was checked for another name must not be used for this one.
        transport = httpx2.AsyncHTTPTransport(verify=self._trust, trust_env=False, retries=0, socket_options=[_RESET])
        timeout = httpx2.Timeout(within.total_seconds(), connect=min(within, _CONNECT_WITHIN).total_seconds())
        url = httpx2.URL(
            scheme=upstream.scheme, host=str(address), port=upstream.port, raw_path=request.target.encode()
        )
        extensions: dict[str, object] = {"trace": passage.trace}
        if isinstance(upstream.host, str):
            extensions["sni_hostname"] = upstream.host
        async with (
            httpx2.AsyncClient(transport=transport, timeout=timeout, trust_env=False) as http,
            http.stream(
                request.method,
                url,
                headers=request.headers,
                content=request.body,
                follow_redirects=False,
                extensions=extensions,
            ) as answer,
        ):
            yield answer


@runtime_checkable
class _Stream(Protocol):
    def get_extra_info(self, info: str) -> object: ...


@runtime_checkable
class _Socket(Protocol):
    def setsockopt(self, level: int, option: int, value: bytes, /) -> None: ...


def _socket_of(stream: object) -> _Socket | None:
    found = stream.get_extra_info("socket") if isinstance(stream, _Stream) else None
    return found if isinstance(found, _Socket) else None


class _Passage:
    """Whether any of an attempt's requests has begun to leave; and the connection, which ends in order after a whole
    answer alone. After anything else nothing that is still on its way out may arrive.
    """

    def __init__(self, leaving: Callable[[], None]) -> None:
        self._leaving = leaving
        self._left = self._has_head_left = False
        self._socket: _Socket | None = None

    async def trace(self, event: str, info: Mapping[str, object]) -> None:
        match event:
            case "connection.connect_tcp.complete":
                self._socket = _socket_of(info["return_value"])
            case "http11.send_request_headers.started":
                self._leaving()
                self._left = True
            case "http11.send_request_headers.complete":
                self._has_head_left = True
            case "http11.receive_response_body.complete" if self._socket is not None:
                self._socket.setsockopt(*_LET_GO)
            case _:
                pass

    def failed(self, error: Exception) -> NeverSent | Lost:
        # It is written as a whole before its first byte leaves: this one could not be.
        if isinstance(error, httpx2.LocalProtocolError) and not self._has_head_left:
            self._left = False
        why = "no whole answer in time" if isinstance(error, TimeoutError) else type(error).__name__
        return Lost(why=why) if self._left else NeverSent(why=why)


async def _read(answer: httpx2.Response) -> Answered:
    """
    Raises:
        httpx2.HTTPError: the rest of it did not come.
    """
    if answer.headers.get("Content-Encoding", "identity").lower() != "identity":
        return Answered(status=answer.status_code, too_long=True)
    body = bytearray()
    async for chunk in answer.aiter_raw():
        body += chunk
        if len(body) > RESULT_LIMIT:
            return Answered(status=answer.status_code, too_long=True)
    result, is_json = _understood(bytes(body))
    return Answered(status=answer.status_code, result=result, is_json=is_json)


def _understood(body: bytes) -> tuple[JsonValue, bool]:
    """The body as JSON, else as text, and whether it was JSON. An empty one is null."""
    if not body:
        return None, True
    try:
        return strict_json.parse(body), True
    except NotStrictJson:
        return body.decode(errors="replace"), False
