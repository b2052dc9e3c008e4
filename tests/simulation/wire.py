"""The way to a process without a network: as `httpx2.ASGITransport`, less what that does for other event loops."""

from dataclasses import dataclass

import httpx2
from starlette.types import ASGIApp, Message


@dataclass(slots=True)
class Wire(httpx2.AsyncBaseTransport):
    """Requests and answers whole, one after the other."""

    process: ASGIApp

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        asked = [await request.aread()]
        status, headers, body = 500, list[tuple[bytes, bytes]](), bytearray()

        async def receive() -> Message:
            if asked:
                return {"type": "http.request", "body": asked.pop(), "more_body": False}
            return {"type": "http.disconnect"}

        async def send(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                headers.extend(message.get("headers", ()))
            else:
                body.extend(message.get("body", b""))

        await self.process(_scope(request), receive, send)
        return httpx2.Response(status, headers=headers, content=bytes(body))


def _scope(request: httpx2.Request) -> Message:
    url = request.url
    return {
        "type": "http",
        "asgi": {"version": "3.0"},
        "http_version": "1.1",
        "method": request.method,
        "headers": [(name.lower(), value) for name, value in request.headers.raw],
        "scheme": url.scheme,
        "path": url.path,
        "raw_path": url.raw_path.split(b"?")[0],
        "query_string": url.query,
        "server": (url.host, url.port),
        "client": ("127.0.0.1", 123),
        "root_path": "",
    }
