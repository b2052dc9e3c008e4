"""An instance of the coordinator, and who calls it; what all worlds share."""

from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path

import httpx2

from services.coordinator.settings import CoordinatorSettings
from services.kernel.adapters.local_minter import LocalMinter, create_key
from services.kernel.client import Client
from services.kernel.ports import Clock, IdentityToken
from tests.simulation.process import Process
from tests.simulation.profile import SMALL
from tests.simulation.wire import Wire
from tests.unit.coordinator import callers
from tests.unit.coordinator.callers import KeyFile
from tests.unit.coordinator.instance import settings
from tests.unit.kernel.world import MovableClock

CAP = SMALL.cap
"""How many runs of a project may wait, where nothing else is said: few, so that it is often too many."""

_FRESH = timedelta(minutes=30)


@dataclass(slots=True)
class Issuer:
    """What all worlds share: settings, and an issuer of tokens that mints once for each caller, audience and half an
    hour, since a signature costs more than all the rest of a call."""

    folder: Path
    tokens: dict[tuple[str, str, int], IdentityToken] = field(default_factory=dict[tuple[str, str, int], IdentityToken])
    keys: KeyFile = field(init=False)
    settings: CoordinatorSettings = field(init=False)

    def __post_init__(self) -> None:
        create_key(self.folder / "key.pem")
        self.keys = KeyFile(self.folder / "key.pem")
        self.settings = settings(self.folder / "store").model_copy(update={"queue_cap": CAP})

    async def token(self, email: str, audience: str, *, clock: Clock) -> IdentityToken:
        slot = (email, audience, clock.elapsed() // _FRESH)
        if slot not in self.tokens:
            began = MovableClock(clock.elapsed() // _FRESH * _FRESH)
            minter = LocalMinter(self.folder / "key.pem", email=email, issuer=callers.ISSUER, clock=began)
            self.tokens[slot] = await minter.mint(audience)
        return self.tokens[slot]


@dataclass(frozen=True, slots=True)
class Identity:
    """Implements `ports.Minter`."""

    issuer: Issuer
    email: str
    clock: Clock

    async def mint(self, audience: str) -> IdentityToken:
        return await self.issuer.token(self.email, audience, clock=self.clock)


@dataclass(slots=True, kw_only=True)
class Node(Process):
    """One life of one instance of the coordinator."""

    issuer: Issuer
    clock: Clock
    number: int = 0
    clients: dict[str, Client] = field(default_factory=dict[str, Client])

    def client(self, email: str) -> Client:
        if email not in self.clients:
            self.clients[email] = Client(
                httpx2.AsyncClient(transport=Wire(self)),
                base_url="http://coordinator",
                audience=callers.AUDIENCE,
                minter=Identity(self.issuer, email, self.clock),
                clock=self.clock,
            )
        return self.clients[email]
