"""Ingress put together: each part with its own identity towards the coordinator."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from datetime import timedelta
from typing import Final

import httpx2
from starlette.applications import Starlette

from services.ingress.acceptance import Acceptance
from services.ingress.api import audit, me
from services.ingress.api.deliveries import Deliveries
from services.ingress.api.ledger import Ledger
from services.ingress.api.logs import Logs
from services.ingress.api.operations import Operations
from services.ingress.api.projects import Projects
from services.ingress.api.runs import Runs
from services.ingress.api.webhooks import Webhooks
from services.ingress.coordinator import Coordinator
from services.ingress.custody import Custody
from services.ingress.hooks import Hooks
from services.ingress.materials import Materials, loader
from services.ingress.people import PeopleGuard
from services.ingress.refusals import Refusals
from services.ingress.roles import Roles
from services.ingress.settings import IngressSettings, Part
from services.ingress.throttle import Throttle
from services.ingress.trial import Trial
from services.ingress.verification import Verification
from services.kernel.client import Client
from services.kernel.identity import Keys, Verifier
from services.kernel.ports import Clock, Ids, Minter
from services.kernel.seal import Keyring
from services.kernel.web import Served, application

SERVICE: Final = "ingress"

# Bad signatures an instance looks into: 10 a second, 50 at once.
_EVERY: Final = timedelta(milliseconds=100)
_BURST: Final = 50


@dataclass(frozen=True, slots=True, kw_only=True)
class World:
    """What ingress needs of the world outside it. `keys` are the issuer's, `minters` mint for the parts.

    `http` reaches the coordinator and this ingress's own public URL; it is opened and closed with the application.
    """

    http: httpx2.AsyncClient
    minters: dict[Part, Minter]
    keys: Keys
    keyring: Keyring
    roles: Roles
    clock: Clock
    ids: Ids


def create(settings: IngressSettings, world: World) -> Starlette:
    def coordinator(part: Part) -> Coordinator:
        client = Client(
            world.http,
            base_url=settings.coordinator_url,
            audience=settings.coordinator_audience,
            minter=world.minters[part],
            clock=world.clock,
        )
        return Coordinator(client)

    served: list[Served] = []
    refusals = Refusals(coordinator(Part.HOOKS), clock=world.clock) if Part.HOOKS in settings.parts else None
    if refusals is not None:
        served += _hooks(settings, world, coordinator(Part.HOOKS), refusals)
    if Part.CONSOLE in settings.parts:
        served += _console(settings, world, coordinator(Part.CONSOLE))

    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncGenerator[None]:
        async with world.http, _telling(refusals):
            yield

    return application(
        service=SERVICE,
        served=served,
        guard=_guard(settings, world),
        ready=_ready,
        lifespan=lifespan,
        clock=world.clock,
        ids=world.ids,
    )


@asynccontextmanager
async def _telling(refusals: Refusals | None) -> AsyncGenerator[None]:
    """Beside the requests, and a last time when the last of them is answered."""
    if refusals is None:
        yield
        return
    task = asyncio.create_task(refusals.tell_each_minute())
    try:
        yield
    finally:
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task
        await refusals.tell()


def _hooks(settings: IngressSettings, world: World, coordinator: Coordinator, refusals: Refusals) -> list[Served]:
    verification = Verification(
        Materials(loader(coordinator)),
        Custody(world.keyring, world.ids),
        Throttle(world.clock, every=_EVERY, burst=_BURST),
        refusals,
        clock=world.clock,
    )
    acceptance = Acceptance(coordinator, verification, refusals, world.ids)
    return Hooks(acceptance, body_limit=settings.body_limit_bytes, clock=world.clock).served()


def _console(settings: IngressSettings, world: World, coordinator: Coordinator) -> list[Served]:
    roles, ids = world.roles, world.ids
    projects = Projects(coordinator, roles, ids, allow_local_repositories=settings.allow_local_repositories)
    custody, url = Custody(world.keyring, ids), settings.public_url.rstrip("/")
    runs = Runs(coordinator, roles, ids, url=url)
    trial = Trial(coordinator, custody, world.http, url=url, clock=world.clock, ids=ids)
    webhooks = Webhooks(coordinator, custody, trial, ids)
    return [
        *me.served(roles),
        *projects.served(),
        *runs.served(),
        *Logs(coordinator, runs).served(),
        *webhooks.served(),
        *Deliveries(coordinator).served(),
        *Operations(coordinator, roles, clock=world.clock).served(),
        *Ledger(coordinator, roles, ids).served(),
        *audit.served(coordinator, roles),
    ]


def _guard(settings: IngressSettings, world: World) -> PeopleGuard:
    audiences = settings.people_audiences | {settings.audience}
    verifier = Verifier(world.keys, audiences=audiences, issuers=frozenset({settings.issuer}), clock=world.clock)
    return PeopleGuard(verifier, world.roles, platform_verifies_callers=settings.platform_verifies_callers)


async def _ready() -> None:
    """Ready once the settings are loaded: ingress has no store, and the coordinator answers for itself."""
