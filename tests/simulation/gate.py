"""One life of one ingress: the production application, at the end of a line to the coordinators that may fail."""

import asyncio
from collections import Counter
from collections.abc import Callable, Mapping
from contextvars import ContextVar
from dataclasses import dataclass, field
from pathlib import Path
from typing import Self

import httpx2

from services.ingress import app as ingress
from services.ingress.roles import Roles
from services.ingress.settings import IngressSettings, Part
from services.kernel.client import Client
from services.kernel.errors import Ambiguous, Unavailable
from services.kernel.ports import Clock, Ids
from tests.simulation.custody import RING, Place
from tests.simulation.node import Identity, Issuer
from tests.simulation.ports import Life, Site, Weather
from tests.simulation.process import Process
from tests.simulation.wire import Wire
from tests.unit.coordinator import callers

AUDIENCE = "anvil-ingress"
URL = "http://ingress"
_ROLES = Roles.parse(
    b"""[
    {"principal": "ada@example.com", "role": "admin", "projects": ["*"]},
    {"principal": "bob@example.com", "role": "operator", "projects": ["*"]}
    ]"""
)

SETTINGS = IngressSettings(
    environment="dev",
    namespace="test",
    audience=AUDIENCE,
    issuer=callers.ISSUER,
    coordinator_url="http://coordinator",
    coordinator_audience=callers.AUDIENCE,
    webhook_keyring_file=Path("unread"),
    roles_file=Path("unread"),
    public_url=URL,
)

towards: ContextVar[int | None] = ContextVar("towards", default=None)
"""The instance of the coordinator that what is asked now gets to, if it is not left to chance."""


class GivesUp(Ambiguous):
    """Whoever asked waits no longer; what was asked goes on its way all the same."""


@dataclass(slots=True, kw_only=True)
class Line(httpx2.AsyncBaseTransport):
    """From an ingress of one life to whichever coordinator `route` chooses; `late` is what nobody waits for."""

    life: Life
    weather: Weather
    route: Callable[[int | None], Process]
    late: list[asyncio.Task[None]]
    reached: Counter[str]

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        try:
            async with self.weather.around(Site.CALL, self.life):
                return await self._met(request)
        except GivesUp as error:
            self.reached["a call that went on though nobody waited"] += 1
            self.late.append(asyncio.ensure_future(self._goes_on(request)))
            raise httpx2.ReadTimeout("nobody waits any longer") from error
        except Ambiguous as error:
            raise httpx2.ReadError("the connection broke") from error
        except Unavailable as error:
            raise httpx2.ConnectError("the connection is refused") from error

    async def _met(self, request: httpx2.Request) -> httpx2.Response:
        process = self.route(towards.get())
        return await Wire(process).handle_async_request(request)

    async def _goes_on(self, request: httpx2.Request) -> None:
        following = asyncio.ensure_future(self._met(request))
        await asyncio.wait([following])
        if not following.cancelled():
            following.exception()


class _Open(httpx2.AsyncClient):
    """Ends with its process, and not with the lifespan, which `Process.settle` goes through more than once."""

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        return


@dataclass(slots=True, kw_only=True)
class Gate(Process):
    """`verified` are the secrets that this life took as genuine."""

    issuer: Issuer
    clock: Clock
    number: int
    verified: set[tuple[Place, str]] = field(default_factory=set[tuple[Place, str]])
    people: dict[str, Client] = field(default_factory=dict[str, Client])
    outside: httpx2.AsyncClient = field(init=False)

    def __post_init__(self) -> None:
        self.outside = httpx2.AsyncClient(transport=Wire(self))

    def person(self, email: str) -> Client:
        """The private API, as somebody."""
        if email not in self.people:
            http = httpx2.AsyncClient(transport=Wire(self))
            minter = Identity(self.issuer, email, self.clock)
            self.people[email] = Client(http, base_url=URL, audience=AUDIENCE, minter=minter, clock=self.clock)
        return self.people[email]

    async def delivered(self, place: Place, body: bytes, headers: Mapping[str, str]) -> httpx2.Response:
        """The public endpoint, as a Git host."""
        slug, provider = place
        url = f"{URL}/api/public/hooks/{provider}/{slug}"
        return await self.outside.post(url, content=body, headers=dict(headers))


def surroundings(issuer: Issuer, line: Line, *, clock: Clock, ids: Ids) -> ingress.World:
    def minter(email: str) -> Identity:
        return Identity(issuer, email, clock)

    return ingress.World(
        http=_Open(transport=line),
        minters={Part.HOOKS: minter(callers.HOOKS), Part.CONSOLE: minter(callers.CONSOLE)},
        keys=issuer.keys,
        keyring=RING,
        roles=_ROLES,
        clock=clock,
        ids=ids,
    )
