"""What every request meets first and every response leaves by: trace, deadline, request id, log line, last resort."""

import re
from datetime import timedelta

from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import ClientDisconnect
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from services.kernel import deadline, trace
from services.kernel.errors import AnvilError
from services.kernel.log import get_logger, request_id
from services.kernel.ports import Clock, Ids
from services.kernel.web.health import LIVE_PATHS, READY_PATHS
from services.kernel.web.problems import problem

log = get_logger(__name__)

REQUEST_ID = "X-Request-Id"


class Edge:
    """Outermost of an application. Lets no error through but one that comes after the response has begun."""

    def __init__(self, app: ASGIApp, *, clock: Clock, ids: Ids) -> None:
        self._app = app
        self._clock = clock
        self._ids = ids

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        with (
            trace.use(trace.continued(headers, self._ids)),
            deadline.scope(self._clock, deadline.parse(headers.get(deadline.HEADER))),
            request_id.use(_sane(headers.get(REQUEST_ID)) or self._ids.token()) as name,
        ):
            exchange = _Exchange(send, name)
            began = self._clock.elapsed()
            await self._answer(scope, receive, exchange)
            _log(scope, exchange.status, self._clock.elapsed() - began)

    async def _answer(self, scope: Scope, receive: Receive, exchange: "_Exchange") -> None:
        try:
            await self._app(scope, receive, exchange.send)
        except ClientDisconnect:
            log.info("the client went away")
        except Exception as error:
            if exchange.status:
                raise
            known = error if isinstance(error, AnvilError) else AnvilError()
            response = problem(known)
            if response.status_code == 500:
                log.error("a request failed", exc_info=error)
            await response(scope, receive, exchange.send)


class _Exchange:
    """The way out of one response, with the headers that all of them carry; `status` is 0 until it has begun."""

    def __init__(self, send: Send, name: str) -> None:
        self.status = 0
        self._send = send
        self._name = name

    async def send(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self.status = message["status"]
            headers = MutableHeaders(scope=message)
            headers[REQUEST_ID] = self._name
            headers.setdefault("X-Content-Type-Options", "nosniff")
        await self._send(message)


def _sane(name: str | None) -> str | None:
    return name if name and re.fullmatch(r"[A-Za-z0-9._-]{1,128}", name) else None


def _log(scope: Scope, status: int, took: timedelta) -> None:
    write = log.debug if scope["path"] in (*LIVE_PATHS, *READY_PATHS) else log.info
    write(
        "request",
        method=scope["method"],
        path=scope["path"],
        status=status,
        duration_ms=took // timedelta(milliseconds=1),
    )
