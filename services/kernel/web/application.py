"""A service's application: its endpoints at their paths, behind its guard."""

import re
from collections import defaultdict
from collections.abc import Awaitable, Callable, Mapping, Sequence
from datetime import timedelta

from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route
from starlette.types import Lifespan, Receive, Scope, Send
from starlette.websockets import WebSocketClose

from services.kernel.endpoint import Audience, Endpoint
from services.kernel.errors import MethodNotAllowed, NotFound
from services.kernel.ports import Clock, Ids
from services.kernel.web.edge import Edge
from services.kernel.web.health import health
from services.kernel.web.openapi import openapi
from services.kernel.web.problems import problem
from services.kernel.web.serving import ANONYMOUS, Caller, Guard, Intake, Served, raw
from services.kernel.wire.model import Empty

PRIVATE_BODY_LIMIT = 1024 * 1024
BODY_WITHIN = timedelta(seconds=10)

DESCRIPTION = Endpoint(
    method="GET",
    path="/openapi.json",
    summary="This document",
    request=Empty,
    response=Empty,
    audience=Audience.PUBLIC,
)


def application(
    *,
    service: str,
    served: Sequence[Served],
    guard: Guard,
    ready: Callable[[], Awaitable[None]],
    clock: Clock,
    ids: Ids,
    lifespan: Lifespan[Starlette] | None = None,
    body_limit: int = PRIVATE_BODY_LIMIT,
    body_within: timedelta = BODY_WITHIN,
) -> Starlette:
    """Everything a service serves; `guard` is asked for all but the public endpoints."""
    everything = [*health(service, ready), *served]
    everything.append(_description(everything, f"Anvil {service}"))
    intake = Intake(limit=body_limit, within=body_within, clock=clock)
    app = Starlette(
        routes=[_route(path, _Resource(methods, guard, intake)) for path, methods in _by_path(everything).items()],
        middleware=[Middleware(Edge, clock=clock, ids=ids)],
        lifespan=lifespan,
    )
    app.router.redirect_slashes = False
    app.router.default = _nothing_here
    return app


class _Resource:
    """All methods of one path."""

    def __init__(self, methods: Mapping[str, Served], guard: Guard, intake: Intake) -> None:
        self._methods = methods
        self._guard = guard
        self._intake = intake

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        request = Request(scope, receive)
        response = await self._answer(request)
        await response(scope, receive, send)

    async def _answer(self, request: Request) -> Response:
        method = "GET" if request.method == "HEAD" else request.method
        if (served := self._methods.get(method)) is None:
            return self._another_method(method)
        public = served.endpoint.audience is Audience.PUBLIC
        caller = ANONYMOUS if public else await self._guard(request, served.endpoint)
        return await served.answer(request, caller, self._intake)

    def _another_method(self, method: str) -> Response:
        head = ("HEAD",) if "GET" in self._methods else ()
        allow = {"Allow": ", ".join(sorted([*self._methods, *head, "OPTIONS"]))}
        if method == "OPTIONS":
            return Response(status_code=204, headers=allow)
        return problem(MethodNotAllowed(), headers=allow)


def _description(served: Sequence[Served], title: str) -> Served:
    document = openapi(served, title)

    async def describe(request: Request, caller: Caller) -> Response:
        return JSONResponse(document)

    return raw(DESCRIPTION, describe)


def _by_path(served: Sequence[Served]) -> Mapping[str, Mapping[str, Served]]:
    paths: dict[str, dict[str, Served]] = defaultdict(dict)
    for each in served:
        paths[each.endpoint.path][each.endpoint.method] = each
    return paths


def _route(path: str, resource: _Resource) -> Route:
    route = Route(path, resource, name=path)
    route.path_regex = path_pattern(path)
    return route


def path_pattern(template: str) -> re.Pattern[str]:
    """A segment holds no control characters and ends at a slash or a colon: `{run}` does not swallow `{run}:claim`."""
    literals = re.split(r"\{([a-z_]+)\}", template)
    literals[::2] = [re.escape(text) for text in literals[::2]]
    literals[1::2] = [rf"(?P<{name}>[^/:\x00-\x1f\x7f]+)" for name in literals[1::2]]
    return re.compile("".join(literals) + r"\Z")


async def _nothing_here(scope: Scope, receive: Receive, send: Send) -> None:
    if scope["type"] != "http":
        await WebSocketClose()(scope, receive, send)
        return
    raise NotFound("there is nothing at this path")
