"""The runner put together: one slot behind one endpoint."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Final

import httpx2
from starlette.applications import Starlette

from services.kernel.client import Client
from services.kernel.endpoint import Audience
from services.kernel.identity import Keys, ServiceGuard, Verifier
from services.kernel.ids import RunId
from services.kernel.ports import Clock, Ids, Minter
from services.kernel.web import Call, application, route
from services.kernel.wire import internal
from services.kernel.wire.runs import ClaimAnswer, RunTask
from services.runner.checkout.source import LOCAL, REMOTE
from services.runner.coordinator import RemoteCoordinator
from services.runner.means import Means
from services.runner.sandbox import Sandbox
from services.runner.settings import RunnerSettings
from services.runner.signals import on_termination
from services.runner.slot import Slot

SERVICE: Final = "runner"


@dataclass(frozen=True, slots=True, kw_only=True)
class World:
    """What the runner needs of the world outside it. `keys` are the issuer's."""

    http: httpx2.AsyncClient
    minter: Minter
    keys: Keys
    sandbox: Sandbox
    clock: Clock
    ids: Ids


def create(settings: RunnerSettings, world: World) -> Starlette:
    """The service. Its end, by signal or otherwise, is the end of the run that it has."""
    slot = Slot(_means(settings, world))

    async def run(call: Call[RunTask]) -> ClaimAnswer:
        return await slot.execute(RunId(call.body.run))

    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncGenerator[None]:
        await world.sandbox.clear()
        async with world.http:
            with on_termination(slot.terminate):
                yield
            slot.terminate()
            await slot.idle()

    return application(
        service=SERVICE,
        served=[route(internal.RUN, run)],
        guard=_guard(settings, world),
        ready=slot.ready,
        lifespan=lifespan,
        clock=world.clock,
        ids=world.ids,
    )


def _means(settings: RunnerSettings, world: World) -> Means:
    client = Client(
        world.http,
        base_url=settings.coordinator_url,
        audience=settings.coordinator_audience,
        minter=world.minter,
        clock=world.clock,
    )
    return Means(
        coordinator=RemoteCoordinator(client, within=settings.numbers.lease / 3),
        sandbox=world.sandbox,
        clock=world.clock,
        ids=world.ids,
        numbers=settings.numbers,
        protocols=LOCAL if settings.allow_local_repositories else REMOTE,
    )


def _guard(settings: RunnerSettings, world: World) -> ServiceGuard:
    verifier = Verifier(
        world.keys,
        audiences=frozenset({settings.audience}),
        issuers=frozenset({settings.issuer}),
        clock=world.clock,
    )
    allowed = {Audience.TASKS: settings.tasks_callers}
    return ServiceGuard(verifier, allowed, platform_verifies_callers=settings.platform_verifies_callers)
