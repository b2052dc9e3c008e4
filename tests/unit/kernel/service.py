"""A small service with one of everything, and a client for it without a network."""

from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager

import httpx2
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response

from services.kernel.endpoint import Audience, Endpoint
from services.kernel.errors import Conflict, Unauthenticated
from services.kernel.ports import Clock
from services.kernel.web import Answer, Call, Caller, Served, application, raw, route
from services.kernel.web.serving import AnyEndpoint
from services.kernel.wire.model import Empty, Page, PageQuery, Wire
from tests.unit.kernel.world import CountingIds, MovableClock


class Part(Wire):
    line_count: int


class Note(Wire):
    """`text` is kept; `confirm` is ignored."""

    text: str
    confirm: bool = False
    parts: tuple[Part, ...] = ()


WRITE = Endpoint(
    method="POST",
    path="/notes/{note}:write",
    summary="Write a note",
    request=Note,
    response=Note,
    audience=Audience.OPERATOR,
    errors=(Conflict,),
)
READ = Endpoint(
    method="GET",
    path="/notes/{note}",
    summary="Read a note",
    request=Empty,
    response=Note,
    audience=Audience.PUBLIC,
)
DELETE = Endpoint(
    method="DELETE",
    path="/notes/{note}",
    summary="Forget a note",
    request=Empty,
    response=Empty,
    audience=Audience.PUBLIC,
    status=204,
)
LIST = Endpoint(
    method="GET",
    path="/notes",
    summary="All notes",
    request=PageQuery,
    response=Page[Note],
    audience=Audience.PUBLIC,
)
PING = Endpoint(
    method="POST", path="/ping", summary="Say nothing", request=Empty, response=Empty, audience=Audience.PUBLIC
)
TEXT = Endpoint(
    method="GET",
    path="/text",
    summary="Plain text",
    request=Empty,
    response=Empty,
    audience=Audience.PUBLIC,
    media_type="text/plain",
)

OPERATOR = {"Authorization": "Bearer operator"}


async def only_the_operator(request: Request, endpoint: AnyEndpoint) -> Caller:
    if request.headers.get("authorization") != OPERATOR["Authorization"]:
        raise Unauthenticated
    return Caller(email="operator@example.com")


async def write(call: Call[Note]) -> Answer[Note]:
    return Answer(call.body, status=201, headers={"X-Note": call.path["note"], "X-Caller": call.caller.email})


async def read(call: Call[Empty]) -> Note:
    return Note(text=call.path["note"])


async def delete(call: Call[Empty]) -> Empty:
    return Empty()


async def listing(call: Call[PageQuery]) -> Page[Note]:
    return Page(items=(Note(text=str(call.body.page_size)),), next_page_token=call.body.page_token)


async def ping(call: Call[Empty]) -> Empty:
    return Empty()


async def text(request: Request, caller: Caller) -> Response:
    return PlainTextResponse("one\ntwo\n")


async def always_ready() -> None:
    return


NOTES = (
    route(WRITE, write),
    route(READ, read),
    route(DELETE, delete),
    route(LIST, listing),
    route(PING, ping),
    raw(TEXT, text),
)


def service(
    *served: Served, ready: Callable[[], Awaitable[None]] = always_ready, clock: Clock | None = None
) -> Starlette:
    """The notes service, or one of other endpoints."""
    return application(
        service="notes",
        served=served or NOTES,
        guard=only_the_operator,
        ready=ready,
        clock=clock or MovableClock(),
        ids=CountingIds(),
    )


@asynccontextmanager
async def calling(app: Starlette) -> AsyncGenerator[httpx2.AsyncClient]:
    async with httpx2.AsyncClient(transport=httpx2.ASGITransport(app), base_url="http://notes") as http:
        yield http
