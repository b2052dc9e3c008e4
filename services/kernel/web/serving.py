"""An endpoint and what answers it."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Generic, Protocol, TypeAlias, TypeVar

from starlette.datastructures import Headers
from starlette.requests import Request
from starlette.responses import Response

from services.kernel.endpoint import Endpoint
from services.kernel.ports import Clock
from services.kernel.web.body import read_body
from services.kernel.web.parsing import no_query, parse_json, parse_query
from services.kernel.wire.model import Wire

Req = TypeVar("Req", bound=Wire)
Res = TypeVar("Res", bound=Wire)

AnyEndpoint: TypeAlias = Endpoint[Wire, Wire]


@dataclass(frozen=True, slots=True, kw_only=True)
class Caller:
    """Who a guard let in."""

    email: str


ANONYMOUS = Caller(email="")
"""The caller of a public endpoint, who is nobody in particular."""


class Guard(Protocol):
    async def __call__(self, request: Request, endpoint: AnyEndpoint) -> Caller:
        """Who calls, if they may. Not asked for public endpoints.

        Raises:
            Unauthenticated: no valid evidence of who calls.
            Forbidden: somebody who may not.
            Unavailable: the evidence cannot be checked now.
        """
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Call(Generic[Req]):
    """A request as its handler sees it. `path` holds the template's segments, decoded."""

    body: Req
    path: Mapping[str, str]
    caller: Caller
    headers: Headers


@dataclass(frozen=True, slots=True)
class Answer(Generic[Res]):
    """A response that differs from the declared status, or has headers of its own."""

    body: Res
    status: int | None = None
    headers: Mapping[str, str] = field(default_factory=dict[str, str])


@dataclass(frozen=True, slots=True, kw_only=True)
class Intake:
    """How much of a body is taken, and for how long."""

    limit: int
    within: timedelta
    clock: Clock


@dataclass(frozen=True, slots=True, kw_only=True)
class Served:
    """An endpoint with its answer."""

    endpoint: AnyEndpoint
    answer: Callable[[Request, Caller, Intake], Awaitable[Response]]


def route(endpoint: Endpoint[Req, Res], handler: Callable[[Call[Req]], Awaitable[Res | Answer[Res]]]) -> Served:
    """Serve `endpoint` by a function from its request to its response; errors it raises become problems."""

    async def answer(request: Request, caller: Caller, intake: Intake) -> Response:
        body = await _request(endpoint, request, intake)
        call = Call(body=body, path=request.path_params, caller=caller, headers=request.headers)
        result = await handler(call)
        return _response(endpoint.status, result if isinstance(result, Answer) else Answer(result))

    return Served(endpoint=endpoint, answer=answer)


def raw(endpoint: Endpoint[Req, Res], handler: Callable[[Request, Caller], Awaitable[Response]]) -> Served:
    """Serve `endpoint` by a function that reads the request and writes the response itself."""

    async def answer(request: Request, caller: Caller, intake: Intake) -> Response:
        return await handler(request, caller)

    return Served(endpoint=endpoint, answer=answer)


async def _request(endpoint: Endpoint[Req, Res], request: Request, intake: Intake) -> Req:
    if endpoint.method in ("GET", "DELETE"):
        return parse_query(endpoint.request, request.query_params)
    body = await read_body(request, limit=intake.limit, within=intake.within, clock=intake.clock)
    no_query(request.query_params)
    return parse_json(endpoint.request, body, request.headers)


def _response(declared: int, answer: Answer[Res]) -> Response:
    status = answer.status or declared
    headers = {"Cache-Control": "no-store", **answer.headers}
    if status == 204:
        return Response(status_code=status, headers=headers)
    return Response(answer.body.model_dump_json(), status_code=status, headers=headers, media_type="application/json")
