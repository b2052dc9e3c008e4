"""Ingress, coordinator, ledger and another system in one process: all of them real, and people who call."""

import ssl
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass

import httpx2
from starlette.applications import Starlette
from starlette.types import ASGIApp

from services.coordinator.operations.upstream import HttpCaller
from services.ingress.app import World, create
from services.ingress.roles import Roles
from services.ingress.settings import Part
from services.kernel.adapters.local_minter import LocalMinter
from services.kernel.seal import Keyring, create_keyring
from tests.unit.coordinator import callers
from tests.unit.coordinator.book import Book, book
from tests.unit.coordinator.instance import Place
from tests.unit.coordinator.operations.billing import Billing, billing
from tests.unit.coordinator.operations.desk import Names, catalogue, declared
from tests.unit.ingress import site

ADMIN = "ada@example.com"
OPERATOR = "olga@example.com"
VIEWER = "vic@example.com"
ELSEWHERE = "nina@example.com"
"""Admin of each project that there is, one by one."""

ROLES = f"""[
  {{"principal": "{ADMIN}", "role": "admin", "projects": ["*"]}},
  {{"principal": "{OPERATOR}", "role": "operator", "projects": ["*"]}},
  {{"principal": "{VIEWER}", "role": "viewer", "projects": ["*"]}},
  {{"principal": "{ELSEWHERE}", "role": "admin", "projects": ["site", "other"]}},
  {{"principal": "{ELSEWHERE}", "role": "viewer", "projects": ["more"]}}
]"""


class Line(httpx2.AsyncBaseTransport):
    """Between ingress and coordinator. The next answer to each of the paths that `loses` ends with is lost."""

    def __init__(self, coordinator: ASGIApp) -> None:
        self._coordinator = httpx2.ASGITransport(coordinator)
        self.loses: list[str] = []
        self.asked: list[str] = []

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        self.asked.append(request.url.path)
        answer = await self._coordinator.handle_async_request(request)
        for lost in self.loses:
            if request.url.path.endswith(lost):
                self.loses.remove(lost)
                raise httpx2.ReadError("the answer was lost")
        return answer


@dataclass(frozen=True, slots=True, kw_only=True)
class Whole:
    """`ingress` is the application, `line` and `book` what is behind it, `billing` the other system."""

    place: Place
    ingress: Starlette
    line: Line
    book: Book
    billing: Billing

    async def call(
        self,
        method: str,
        path: str,
        *,
        json: object = None,
        by: str = OPERATOR,
        headers: Mapping[str, str] | None = None,
        params: Mapping[str, str] | None = None,
    ) -> httpx2.Response:
        """The private API, as a person."""
        minter = LocalMinter(self.place.keys.path, email=by, issuer=callers.ISSUER, clock=self.place.clock)
        token = (await minter.mint(site.AUDIENCE)).value
        sent = {"Authorization": f"Bearer {token}", **(headers or {})}
        async with httpx2.AsyncClient(transport=httpx2.ASGITransport(self.ingress), base_url="http://ci") as http:
            return await http.request(method, f"/api/private{path}", json=json, headers=sent, params=params)


@asynccontextmanager
async def whole(place: Place, *, roles: str = ROLES) -> AsyncGenerator[Whole]:
    """One operation of each mode (`make-required`, …), of which an answer's `secret` is redacted."""
    async with billing(place.folder / "effects") as upstream:
        offered = [
            declared(mode, port=upstream.port, more="    redact: [/secret]\n    attempts: 1\n")
            for mode in ("required", "key_supported", "client_id", "natural", "none")
        ]
        caller = HttpCaller(Names(), trust=ssl.create_default_context())
        async with book(place, operations=catalogue(*offered), upstream=caller) as made:
            line = Line(made.anvil.instance)
            settings = site.settings(local=False).model_copy(update={"parts": frozenset({Part.CONSOLE})})
            app = create(settings, _world(place, line, roles))
            async with app.router.lifespan_context(app):
                yield Whole(place=place, ingress=app, line=line, book=made, billing=upstream)


def _world(place: Place, line: Line, roles: str) -> World:
    minter = LocalMinter(place.keys.path, email=callers.CONSOLE, issuer=callers.ISSUER, clock=place.clock)
    return World(
        http=httpx2.AsyncClient(transport=line),
        minters={Part.CONSOLE: minter},
        keys=place.keys,
        keyring=Keyring.load(create_keyring()),
        roles=Roles.parse(roles.encode()),
        clock=place.clock,
        ids=place.ids,
    )
