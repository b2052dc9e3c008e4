"""The instances of a service behind Cloud Run's front end, and which of them is given a request."""

from collections.abc import Iterable

import httpx2
from starlette.requests import ClientDisconnect, Request
from starlette.responses import PlainTextResponse, StreamingResponse
from starlette.types import Receive, Scope, Send

SERVER = "Google Frontend"
"""The front end's own answers' `Server`, by which they are told from the service's."""

_HOP_BY_HOP = frozenset({b"connection", b"host", b"keep-alive", b"te", b"trailer", b"transfer-encoding", b"upgrade"})

Headers = list[tuple[bytes, bytes]]


class Upstream:
    """The service's instances as an ASGI application; bodies are passed on as they come.

    A request goes to an instance that has no more to do than any other, and to the next one if nobody answers there.
    """

    def __init__(self, *urls: str, http: httpx2.AsyncClient) -> None:
        self._at_work = {url.rstrip("/"): 0 for url in urls}
        self._http = http

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return
        request = Request(scope, receive)
        for url in sorted(self._at_work, key=lambda url: self._at_work[url]):
            # Last in line among those that have as much to do.
            self._at_work[url] = self._at_work.pop(url) + 1
            try:
                await self._pass_on(request, url, send)
            except httpx2.ConnectError:
                continue
            else:
                return
            finally:
                self._at_work[url] -= 1
        await self._unavailable(scope, receive, send)

    async def _pass_on(self, request: Request, url: str, send: Send) -> None:
        path = request.scope["raw_path"].decode("ascii") + (f"?{request.url.query}" if request.url.query else "")
        has_body = any(name in (b"content-length", b"transfer-encoding") for name, _ in request.headers.raw)
        outgoing = self._http.build_request(
            request.method,
            url + path,
            headers=_end_to_end(request.headers.raw),
            content=request.stream() if has_body else None,
            timeout=None,
        )
        try:
            answer = await self._http.send(outgoing, stream=True)
        except ClientDisconnect:
            return
        except (httpx2.ReadError, httpx2.WriteError, httpx2.RemoteProtocolError):
            await self._unavailable(request.scope, request.receive, send)
            return
        try:
            response = StreamingResponse(answer.aiter_raw(), status_code=answer.status_code)
            response.raw_headers = _end_to_end(answer.headers.raw)
            await response(request.scope, request.receive, send)
        finally:
            await answer.aclose()

    async def _unavailable(self, scope: Scope, receive: Receive, send: Send) -> None:
        """What callers are told when the instance they were given is gone, or when there is none."""
        response = PlainTextResponse("Service Unavailable", 503, headers={"Server": SERVER})
        await response(scope, receive, send)


def _end_to_end(headers: Iterable[tuple[bytes, bytes]]) -> Headers:
    return [(name.lower(), value) for name, value in headers if name.lower() not in _HOP_BY_HOP]
