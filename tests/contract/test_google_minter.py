"""Google's identity tokens: asked of the metadata server, kept, and renewed before they end."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import timedelta

import jwt
import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

from services.kernel.adapters.google_minter import GoogleMinter
from services.kernel.errors import Unavailable
from tests.contract.serving import served
from tests.unit.kernel.world import MovableClock

pytestmark = pytest.mark.anyio

AUDIENCE = "https://coordinator-abc-ew.a.run.app"


@dataclass(slots=True)
class MetadataServer:
    """What every machine of Google's reaches as metadata.google.internal. `status` and `text` replace its answer."""

    clock: MovableClock = field(default_factory=MovableClock)
    status: int = 200
    text: str | None = None
    asked: list[str] = field(default_factory=list[str])
    was_asked: asyncio.Event = field(default_factory=asyncio.Event)
    may_answer: asyncio.Event = field(default_factory=asyncio.Event)
    silent: bool = False

    async def identity(self, request: Request) -> Response:
        if request.headers.get("Metadata-Flavor") != "Google":
            return Response(status_code=403)
        self.asked.append(request.query_params["audience"])
        self.was_asked.set()
        if self.silent:
            await self.may_answer.wait()
        return PlainTextResponse(self.text or self._token(), status_code=self.status)

    def _token(self) -> str:
        claims = {"aud": self.asked[-1], "n": len(self.asked), "exp": self.clock.now() + timedelta(hours=1)}
        return jwt.encode(claims, "a key of Google's that nobody looks at here")

    @asynccontextmanager
    async def serving(self) -> AsyncGenerator[GoogleMinter]:
        path = "/computeMetadata/v1/instance/service-accounts/default/identity"
        async with served(Starlette(routes=[Route(path, self.identity)])) as (url,):
            yield GoogleMinter(clock=self.clock, metadata_url=url)


def said(token: str) -> object:
    claims: dict[str, object] = jwt.decode(token, options={"verify_signature": False})
    return claims["aud"]


async def test_a_token_is_made_out_to_the_audience_and_says_when_it_ends() -> None:
    server = MetadataServer()
    async with server.serving() as minter:
        token = await minter.mint(AUDIENCE)

    assert said(token.value) == AUDIENCE
    assert token.expires_at == server.clock.now() + timedelta(hours=1)


async def test_a_token_is_kept_for_its_audience_until_five_minutes_before_its_end() -> None:
    server = MetadataServer()
    async with server.serving() as minter:
        first = await minter.mint(AUDIENCE)
        await minter.mint("another")
        server.clock.move(timedelta(minutes=54))
        assert await minter.mint(AUDIENCE) == first
        server.clock.move(timedelta(minutes=1))
        assert await minter.mint(AUDIENCE) != first

    assert server.asked == [AUDIENCE, "another", AUDIENCE]


async def test_callers_at_once_share_one_question() -> None:
    server = MetadataServer()
    async with server.serving() as minter:
        await asyncio.gather(*(minter.mint(AUDIENCE) for _ in range(20)))

    assert server.asked == [AUDIENCE]


@pytest.mark.parametrize(
    ("status", "text"),
    [(404, None), (500, None), (503, None), (429, None), (200, "no token"), (200, "e30.e30.e30"), (200, "e30.W10.e30")],
)
async def test_a_server_that_gives_no_token_is_asked_once_and_unavailable(status: int, text: str | None) -> None:
    server = MetadataServer(status=status, text=text)
    async with server.serving() as minter:
        with pytest.raises(Unavailable):
            await minter.mint(AUDIENCE)

    assert server.asked == [AUDIENCE]


async def test_a_server_that_came_back_is_asked_again() -> None:
    server = MetadataServer(status=503)
    async with server.serving() as minter:
        with pytest.raises(Unavailable):
            await minter.mint(AUDIENCE)
        server.status = 200
        assert said((await minter.mint(AUDIENCE)).value) == AUDIENCE


async def test_a_server_that_is_away_is_unavailable_and_holds_up_nobody_else() -> None:
    minter = GoogleMinter(clock=MovableClock(), metadata_url="http://127.0.0.1:9")
    with pytest.raises(Unavailable):
        await minter.mint(AUDIENCE)


async def test_a_silent_server_is_waited_for_off_the_event_loop() -> None:
    server = MetadataServer(silent=True)
    async with server.serving() as minter:
        minting = asyncio.create_task(minter.mint(AUDIENCE))
        # The server runs in this very loop: it is reached only because the question does not block it.
        await server.was_asked.wait()
        server.may_answer.set()
        assert said((await minting).value) == AUDIENCE
