"""What Google Cloud does around the three services, played by one process of a local stack.

Cloud Tasks (`queue`, `pump`), Cloud Scheduler (`scheduler`), and the issuer of identity tokens, which publishes its key
under `/jwks`. It is the only place that signs as the tasks and scheduler identities.
"""

import asyncio
import contextlib
from collections.abc import AsyncGenerator, Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import httpx2
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Mount, Route

from services.kernel.adapters.jwks import Jwks
from services.kernel.adapters.local_minter import LocalMinter, jwks
from services.kernel.client import Client
from services.kernel.errors import Forbidden
from services.kernel.identity import Verifier
from services.kernel.log import get_logger
from services.kernel.ports import Clock, Minter, Target
from services.local import identities, pump, queue, scheduler
from services.local.pump import Pump
from services.local.settings import PlatformSettings
from services.local.task_table import TaskTable

log = get_logger(__name__)

AFTER_A_FAULT = timedelta(seconds=1)


def create(settings: PlatformSettings, *, clock: Clock) -> Starlette:
    http = httpx2.AsyncClient(trust_env=False)
    executor = ThreadPoolExecutor(max_workers=1, thread_name_prefix="tasks")
    tasks = Pump(
        TaskTable(settings.tasks_path, executor=executor),
        _destinations(settings),
        client=http,
        minter=_minter(settings, identities.TASKS, clock=clock),
        clock=clock,
    )
    coordinator = Client(
        http,
        base_url=settings.coordinator_url,
        audience=settings.coordinator_audience,
        minter=_minter(settings, identities.SCHEDULER, clock=clock),
        clock=clock,
    )

    async def sweeping() -> None:
        await scheduler.sweep(coordinator, clock=clock, every=timedelta(seconds=settings.sweep_seconds))

    @contextlib.asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncGenerator[None]:
        async with http:
            working = [asyncio.create_task(_for_ever(work, clock=clock)) for work in (tasks.run, sweeping)]
            yield
            for work in working:
                work.cancel()
            await asyncio.gather(*working, return_exceptions=True)
        executor.shutdown()

    queue_server = queue.application(tasks, admit=_admission(settings, clock=clock), clock=clock)
    return Starlette(
        routes=[Route("/health/ready", _ready), _issuer(settings), Mount("/", queue_server)], lifespan=lifespan
    )


def _destinations(settings: PlatformSettings) -> dict[Target, pump.Destination]:
    return {
        Target.COORDINATOR: pump.coordinator(settings.coordinator_url, settings.coordinator_audience),
        Target.RUNNER: pump.runners(settings.runner_url, settings.runner_audience),
    }


def _minter(settings: PlatformSettings, email: str, *, clock: Clock) -> Minter:
    return LocalMinter(settings.issuer_key_file, email=email, issuer=settings.issuer, clock=clock)


def _issuer(settings: PlatformSettings) -> Route:
    document = jwks(settings.issuer_key_file)

    async def keys(_: Request) -> Response:
        return JSONResponse(document)

    return Route("/jwks", keys)


def _admission(settings: PlatformSettings, *, clock: Clock) -> queue.Admit:
    verifier = Verifier(
        Jwks(settings.jwks_url, clock=clock),
        audiences=frozenset({settings.audience}),
        issuers=frozenset({settings.issuer}),
        clock=clock,
    )

    async def admit(request: Request) -> None:
        claims = await verifier.identify(request.headers)
        if claims.email not in settings.tasks_callers:
            raise Forbidden(f"{claims.email} may not enqueue")

    return admit


async def _ready(_: Request) -> Response:
    return JSONResponse({"ready": True, "service": "platform"})


async def _for_ever(work: Callable[[], Awaitable[None]], *, clock: Clock) -> None:
    """Do work that never ends; begin anew after a fault."""
    while True:
        try:
            await work()
        except Exception:
            log.exception("begins anew")
        await clock.sleep(AFTER_A_FAULT)
