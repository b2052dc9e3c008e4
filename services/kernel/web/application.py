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

from services.kernel.endpoint import Audience
from services.kernel.errors import MethodNotAllowed, NotFound
from services.kernel.ports import Clock, Ids
from services.kernel.web.edge import Edge
from services.kernel.web.health import health
from services.kernel.web.openapi import openapi
from services.kernel.web.problems import problem
from services.kernel.web.serving import ANONYMOUS, Guard, Intake, Served

PRIVATE_BODY_LIMIT = 1024 * 1024
BODY_WITHIN = timedelta(seconds=10)

_PARAMETER = re.compile(r"\{([a-z_]+)\}")
_SEGMENT = r"(?P<\1>[^/:\\x00-\\x1f\\x7f]+)"


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
    intake = Intake(limit=body_limit, within=body_within, clock=clock)
    document = openapi(served, f"Anvil {service}")

    async def description(request: Request) -> Response:
        return JSONResponse(document)

    resources = [_route(path, _Resource(methods, guard, intake)) for path, methods in _by_path(served).items()]
    app = Starlette(
        routes=[*health(service, ready), Route("/openapi.json", description), *resources],
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
            return self._other_method(method)
        public = served.endpoint.audience is Audience.PUBLIC
        caller = ANONYMOUS if public else await self._guard(request, served.endpoint)
        return await served.answer(request, caller, self._intake)

    def _other_method(self, method: str) -> Response:
        allow = {"Allow": ", ".join(sorted({*self._methods, "OPTIONS", *(["HEAD"] if "GET" in self._methods else [])}))}
        if method == "OPTIONS":
            return Response(status_code=204, headers=allow)
        return problem(MethodNotAllowed(), headers=allow)


def _by_path(served: Sequence[Served]) -> Mapping[str, Mapping[str, Served]]:
    paths: dict[str, dict[str, Served]] = defaultdict(dict)
    for each in served:
        paths[each.endpoint.path][each.endpoint.method] = each
    return paths


def _route(path: str, resource: _Resource) -> Route:
    """A segment ends at a slash or a colon, so that `{run}` never swallows the verb of `{run}:claim`."""
    route = Route(path, resource, name=path)
    route.path_regex = re.compile(
        _PARAMETER.sub(_SEGMENT, re.escape(path).replace(r"\{", "{").replace(r"\}", "}")) + r"\Z"
    )
    return route


async def _nothing_here(scope: Scope, receive: Receive, send: Send) -> None:
    raise NotFound("there is nothing at this path")
