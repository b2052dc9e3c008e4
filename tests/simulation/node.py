"""One life of one instance of the coordinator: the production application, which answers until its life ends."""

import asyncio
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path

import httpx2
from starlette.applications import Starlette
from starlette.types import Message, Receive, Scope, Send

from services.coordinator.settings import CoordinatorSettings
from services.kernel.adapters.local_minter import LocalMinter, create_key
from services.kernel.client import Client
from services.kernel.ports import Clock, IdentityToken
from tests.simulation.ports import Life
from tests.unit.coordinator import callers
from tests.unit.coordinator.callers import KeyFile
from tests.unit.coordinator.instance import settings
from tests.unit.kernel.world import MovableClock

CAP = 3
"""How many runs of a project may wait: few, so that it is often too many."""

_FRESH = timedelta(minutes=30)


@dataclass(slots=True)
class Issuer:
    """What all worlds share: settings, and an issuer of tokens that mints once for each caller and half an hour,
    since a signature costs more than all the rest of a call."""

    folder: Path
    tokens: dict[tuple[str, int], IdentityToken] = field(default_factory=dict[tuple[str, int], IdentityToken])
    keys: KeyFile = field(init=False)
    settings: CoordinatorSettings = field(init=False)

    def __post_init__(self) -> None:
        create_key(self.folder / "key.pem")
        self.keys = KeyFile(self.folder / "key.pem")
        self.settings = settings(self.folder / "store").model_copy(update={"queue_cap": CAP})

    async def token(self, email: str, *, clock: Clock) -> IdentityToken:
        slot = (email, clock.elapsed() // _FRESH)
        if slot not in self.tokens:
            began = MovableClock(clock.elapsed() // _FRESH * _FRESH)
            minter = LocalMinter(self.folder / "key.pem", email=email, issuer=callers.ISSUER, clock=began)
            self.tokens[slot] = await minter.mint(callers.AUDIENCE)
        return self.tokens[slot]


@dataclass(frozen=True, slots=True)
class Identity:
    """Implements `ports.Minter`."""

    issuer: Issuer
    email: str
    clock: Clock

    async def mint(self, audience: str) -> IdentityToken:
        return await self.issuer.token(self.email, clock=self.clock)


@dataclass(slots=True, kw_only=True)
class Node:
    """`failures` are answers with status 500, which nobody may ever get (H3)."""

    app: Starlette
    life: Life
    issuer: Issuer
    clock: Clock
    failures: list[str] = field(default_factory=list[str])
    clients: dict[str, Client] = field(default_factory=dict[str, Client])

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def observed(message: Message) -> None:
            if message.get("status") == 500:
                self.failures.append(str(scope["path"]))
            await send(message)

        request = asyncio.ensure_future(self._serve(scope, receive, observed))
        await asyncio.wait([request])
        if self.life.ended:
            _forgotten(request)
            raise httpx2.ReadError("the process is gone")
        request.result()

    def client(self, email: str) -> Client:
        if email not in self.clients:
            self.clients[email] = Client(
                httpx2.AsyncClient(transport=httpx2.ASGITransport(self)),
                base_url="http://coordinator",
                audience=callers.AUDIENCE,
                minter=Identity(self.issuer, email, self.clock),
                clock=self.clock,
            )
        return self.clients[email]

    async def settle(self) -> None:
        """Wait for what follows the answers, unless the process is gone by then."""
        following = asyncio.ensure_future(self._drained())
        await asyncio.wait([following])
        if self.life.ended:
            _forgotten(following)
        else:
            following.result()

    async def _serve(self, scope: Scope, receive: Receive, send: Send) -> None:
        await self.app(scope, receive, send)

    async def _drained(self) -> None:
        async with self.app.router.lifespan_context(self.app):
            pass


def _forgotten(work: asyncio.Future[None]) -> None:
    """Nobody learns what became of work that a killed process was doing."""
    if not work.cancelled():
        work.exception()
