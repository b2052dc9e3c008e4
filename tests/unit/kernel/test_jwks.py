"""The issuer's keys: fetched once, kept for an hour, and asked for again only now and then."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path

import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from services.kernel.adapters.jwks import Jwks
from services.kernel.adapters.local_minter import create_key, jwks
from services.kernel.errors import Unavailable
from tests.contract.serving import served
from tests.unit.kernel.world import MovableClock

pytestmark = pytest.mark.anyio


@dataclass(slots=True)
class Issuer:
    """Publishes `keys`, or fails with `status`, and counts how often it is asked."""

    keys: list[object] = field(default_factory=list[object])
    status: int = 200
    asked: int = 0

    async def answer(self, request: Request) -> Response:
        self.asked += 1
        return JSONResponse({"keys": self.keys}, status_code=self.status)

    @asynccontextmanager
    async def serving(self, clock: MovableClock) -> AsyncGenerator[Jwks]:
        async with served(Starlette(routes=[Route("/certs", self.answer)])) as (url,):
            yield Jwks(f"{url}/certs", clock=clock)


@pytest.fixture(scope="module")
def published(tmp_path_factory: pytest.TempPathFactory) -> list[dict[str, str]]:
    return [_published(tmp_path_factory.mktemp("keys") / f"{number}.pem") for number in range(2)]


def _published(path: Path) -> dict[str, str]:
    create_key(path)
    return jwks(path)["keys"][0]


async def test_known_keys_are_fetched_once_an_hour(published: list[dict[str, str]]) -> None:
    clock, issuer = MovableClock(), Issuer([*published])
    async with issuer.serving(clock) as keys:
        for _ in range(3):
            assert await keys.key(published[0]["kid"]) is not None
        assert await keys.key(published[1]["kid"]) is not None
        assert issuer.asked == 1
        clock.move(timedelta(minutes=61))
        assert await keys.key(published[0]["kid"]) is not None
        assert issuer.asked == 2


async def test_made_up_keys_make_the_issuer_be_asked_every_30_seconds_at_most(published: list[dict[str, str]]) -> None:
    clock, issuer = MovableClock(), Issuer([*published])
    async with issuer.serving(clock) as keys:
        for number in range(5):
            assert await keys.key(f"made-up-{number}") is None
        assert issuer.asked == 1
        clock.move(timedelta(seconds=31))
        assert await keys.key("made-up") is None
        assert issuer.asked == 2


async def test_a_new_key_is_found_after_half_a_minute(published: list[dict[str, str]]) -> None:
    clock, issuer = MovableClock(), Issuer([published[0]])
    async with issuer.serving(clock) as keys:
        assert await keys.key(published[1]["kid"]) is None
        issuer.keys.append(published[1])
        clock.move(timedelta(seconds=31))
        assert await keys.key(published[1]["kid"]) is not None


async def test_callers_at_once_share_one_fetch(published: list[dict[str, str]]) -> None:
    issuer = Issuer([*published])
    async with issuer.serving(MovableClock()) as keys:
        found = await asyncio.gather(*(keys.key(published[0]["kid"]) for _ in range(20)))
    assert all(key is not None for key in found)
    assert issuer.asked == 1


@pytest.mark.parametrize(("keys", "status"), [([], 200), ([{"kty": "RSA"}], 200), ([], 500)])
async def test_an_issuer_without_usable_keys_is_away(keys: list[object], status: int) -> None:
    async with Issuer(keys, status).serving(MovableClock()) as found:
        with pytest.raises(Unavailable):
            await found.key("k1")


async def test_an_issuer_that_cannot_be_reached_is_away() -> None:
    with pytest.raises(Unavailable):
        await Jwks("http://127.0.0.1:1/certs", clock=MovableClock()).key("k1")


async def test_an_issuer_that_came_back_is_asked_again(published: list[dict[str, str]]) -> None:
    issuer = Issuer([*published], status=503)
    async with issuer.serving(MovableClock()) as keys:
        with pytest.raises(Unavailable):
            await keys.key(published[0]["kid"])
        issuer.status = 200
        assert await keys.key(published[0]["kid"]) is not None


async def test_a_secret_key_in_the_set_is_no_key(published: list[dict[str, str]]) -> None:
    symmetric = {"kty": "oct", "kid": "shared", "k": "c2VjcmV0", "alg": "HS256"}
    async with Issuer([*published, symmetric]).serving(MovableClock()) as keys:
        assert await keys.key("shared") is None
