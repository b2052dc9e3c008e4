"""The double of Cloud Run's front end, over the wire: what the service behind it gets to see."""

import asyncio

import httpx2
import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route
from starlette.types import Message, Scope

from services.local.doubles.front_end import FrontEnd, Policy
from services.local.doubles.upstream import Upstream
from tests.contract.serving import served
from tests.security.tokens import ISSUER, Issuer

pytestmark = pytest.mark.anyio

AUDIENCE = "https://service.test"
CALLER = "runner@anvil.test"


async def echo(request: Request) -> Response:
    said = {"path": request.scope["raw_path"].decode(), "query": request.url.query, "headers": dict(request.headers)}
    return JSONResponse({**said, "body": (await request.body()).hex()}, status_code=201)


async def seen(issuer: Issuer, headers: dict[str, str], *, invokers: frozenset[str] | None) -> dict[str, str]:
    """What the service saw of a request's headers; its path, query and body arrive as they were sent."""
    app = Starlette(routes=[Route("/{path:path}", echo, methods=["POST"])])
    policy = Policy(audience=AUDIENCE, invokers=invokers, issuer=ISSUER, keys=issuer)
    async with (
        httpx2.AsyncClient(trust_env=False) as http,
        served(app) as (service,),
        served(FrontEnd(Upstream(service, http=http), policy)) as (url,),
    ):
        answer = await http.post(f"{url}/a%2Fb?c=d", headers=headers, content=b"\x00body")
    found = answer.json()
    assert (answer.status_code, found["path"], found["query"], found["body"]) == (201, "/a%2Fb", "c=d", "00626f6479")
    arrived: dict[str, str] = found["headers"]
    return arrived


async def test_a_private_service_sees_the_checked_token_without_its_signature_and_the_other_untouched() -> None:
    issuer = Issuer()
    token = issuer.token(CALLER, AUDIENCE)
    sent = {"Authorization": "Bearer a.b.c", "X-Serverless-Authorization": f"Bearer {token}"}
    arrived = await seen(issuer, sent, invokers=frozenset({CALLER}))

    unsigned = token.rpartition(".")[0]
    assert arrived["x-serverless-authorization"] == f"Bearer {unsigned}.SIGNATURE_REMOVED_BY_GOOGLE"
    assert arrived["authorization"] == "Bearer a.b.c"


async def test_a_public_service_sees_what_was_sent() -> None:
    sent = {"authorization": "Bearer a.b.c", "x-serverless-authorization": "anything", "user-agent": "me"}
    arrived = await seen(Issuer(), sent, invokers=None)

    assert arrived.items() >= sent.items()


async def test_the_front_end_adds_where_a_request_came_from() -> None:
    arrived = await seen(Issuer(), {"X-Forwarded-Proto": "gopher"}, invokers=None)

    assert arrived["x-forwarded-for"] == "127.0.0.1"
    assert arrived["x-forwarded-proto"] == "https"
    assert arrived["x-cloud-trace-context"].endswith("/1;o=1")


# Several instances behind it


def instance(name: str) -> Starlette:
    async def answer(_: Request) -> Response:
        return JSONResponse(name)

    return Starlette(routes=[Route("/", answer)])


async def test_instances_that_have_as_much_to_do_take_turns() -> None:
    async with (
        httpx2.AsyncClient(trust_env=False) as http,
        served(instance("a"), instance("b")) as urls,
        served(Upstream(*urls, http=http)) as (front,),
    ):
        names = [(await http.get(front)).json() for _ in range(4)]
    assert names == ["a", "b", "a", "b"]


async def test_a_request_goes_to_another_instance_than_the_one_that_is_busy() -> None:
    busy, free = asyncio.Event(), asyncio.Event()

    async def wait(_: Request) -> Response:
        busy.set()
        await free.wait()
        return JSONResponse("busy")

    waiting = Starlette(routes=[Route("/", wait)])
    async with (
        httpx2.AsyncClient(trust_env=False) as http,
        served(waiting, instance("b")) as urls,
        served(Upstream(*urls, http=http)) as (front,),
    ):
        first = asyncio.create_task(http.get(front))
        await busy.wait()
        names = [(await http.get(front)).json() for _ in range(3)]
        free.set()
        assert (await first).json() == "busy"
    assert names == ["b", "b", "b"]


async def test_an_instance_that_is_gone_is_passed_over_and_without_any_the_front_end_answers() -> None:
    async with httpx2.AsyncClient(trust_env=False) as http:
        async with served(instance("gone")) as (gone,):
            pass
        async with served(instance("b")) as (there,), served(Upstream(gone, there, http=http)) as (front,):
            assert [(await http.get(front)).json() for _ in range(2)] == ["b", "b"]
        async with served(Upstream(gone, http=http)) as (front,):
            answer = await http.get(front)
    assert (answer.status_code, answer.text) == (503, "Service Unavailable")


async def test_a_caller_that_leaves_before_its_request_is_whole_is_answered_nothing() -> None:
    sent: list[Message] = []

    async def leaves() -> Message:
        return {"type": "http.disconnect"}

    async def answered(message: Message) -> None:
        sent.append(message)

    scope: Scope = {
        "type": "http",
        "method": "POST",
        "path": "/",
        "raw_path": b"/",
        "query_string": b"",
        "headers": [(b"content-length", b"4")],
    }
    async with httpx2.AsyncClient(trust_env=False) as http, served(instance("one")) as (url,):
        await Upstream(url, http=http)(scope, leaves, answered)
    assert sent == []
