"""The request's body, read as a stream: bounded in size and time, never decompressed."""

import asyncio
from collections.abc import AsyncIterator
from datetime import timedelta

from starlette.requests import Request

from services.kernel.errors import PayloadTooLarge, RequestTimeout, UnsupportedMediaType
from services.kernel.ports import Clock


async def read_body(request: Request, *, limit: int, within: timedelta, clock: Clock) -> bytes:
    """The whole body, of at most `limit` bytes.

    Raises:
        UnsupportedMediaType: it has a Content-Encoding, whichever (A18).
        PayloadTooLarge: it is longer, or says so; it is not read to its end.
        RequestTimeout: it did not arrive within that time.
        ClientDisconnect: the client went away.
    """
    if "content-encoding" in request.headers:
        raise UnsupportedMediaType("bodies are taken without Content-Encoding only")
    if _announced(request) > limit:
        raise PayloadTooLarge(f"at most {limit} bytes are taken")
    body = bytearray()
    async for chunk in _chunks(request, within, clock):
        body += chunk
        if len(body) > limit:
            raise PayloadTooLarge(f"at most {limit} bytes are taken")
    return bytes(body)


def _announced(request: Request) -> int:
    text = request.headers.get("content-length", "")
    return int(text) if text.isascii() and text.isdigit() and len(text) < 20 else 0


async def _chunks(request: Request, within: timedelta, clock: Clock) -> AsyncIterator[bytes]:
    ends = clock.elapsed() + within
    stream = request.stream()
    while True:
        try:
            async with asyncio.timeout((ends - clock.elapsed()).total_seconds()):
                chunk = await anext(stream)
        except StopAsyncIteration:
            return
        except TimeoutError as error:
            raise RequestTimeout(f"the body did not arrive within {within.total_seconds():g} s") from error
        yield chunk
