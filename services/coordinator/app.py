"""The coordinator put together: use cases over one store and one task queue, behind the endpoints of `kernel.wire`."""

from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Final

from starlette.applications import Starlette

from services.coordinator.actors import Actors
from services.coordinator.attempts import Attempts
from services.coordinator.audit import Audit
from services.coordinator.background import Background
from services.coordinator.deliveries import Deliveries
from services.coordinator.directory import Directory
from services.coordinator.dispatch import Dispatcher
from services.coordinator.index import RunDocuments
from services.coordinator.ledger.backend import Backend
from services.coordinator.ledger.ledger import Ledger
from services.coordinator.ledger.readiness import Readiness
from services.coordinator.logs import Logs
from services.coordinator.operations import catalogue
from services.coordinator.operations.credentials import Credentials
from services.coordinator.operations.model import Catalogue
from services.coordinator.operations.operations import Deployment, Operations
from services.coordinator.operations.upstream import Caller, Nowhere
from services.coordinator.projects import Projects
from services.coordinator.reconcile import Reconciler
from services.coordinator.records.project import PROJECTS
from services.coordinator.refusals import Refusals
from services.coordinator.routes.console import ConsoleRoutes
from services.coordinator.routes.hooks import HooksRoutes
from services.coordinator.routes.operations import OperationsRoutes
from services.coordinator.routes.runners import RunnersRoutes
from services.coordinator.routes.timers import TimersRoutes
from services.coordinator.runs import Runs
from services.coordinator.scenes import Scenes
from services.coordinator.settings import CoordinatorSettings
from services.coordinator.sweep import Sweeper
from services.coordinator.verdicts import Verdicts
from services.coordinator.webhooks import Webhooks
from services.kernel.endpoint import Audience
from services.kernel.identity import Keys, ServiceGuard, Verifier
from services.kernel.ports import Clock, Ids, Store, TaskQueue
from services.kernel.web import Served, application

SERVICE: Final = "coordinator"
BODY_LIMIT: Final = 2 * 1024 * 1024
"""Bytes; an append of 16 chunks of 64 KiB, escaped as JSON, is the largest message."""


async def _stays_open() -> None:
    """What the world holds is not this service's to close."""


@dataclass(frozen=True, slots=True, kw_only=True)
class World:
    """What the coordinator needs of the world outside it. `keys` are the issuer's; without a `ledger` there is none.

    `catalogue` is of the operations that may be executed, and `upstream` reaches the systems that they call. `close`
    lets the stores and the task queue go; it is called once, when nothing more is asked of them.
    """

    store: Store
    tasks: TaskQueue
    keys: Keys
    clock: Clock
    ids: Ids
    ledger: Backend | None = None
    catalogue: Catalogue = catalogue.NONE
    upstream: Caller = field(default_factory=Nowhere)
    close: Callable[[], Awaitable[None]] = _stays_open


def create(settings: CoordinatorSettings, world: World) -> Starlette:
    background = Background(world.clock)
    ledger, audit = _ledger(settings, world), Audit(world.store, clock=world.clock, ids=world.ids)
    operations = _operations(settings, world, ledger, audit)
    readiness = _readiness(world, ledger)

    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncGenerator[None]:
        yield
        await background.drain()
        await operations.drain()
        await world.close()

    return application(
        service=SERVICE,
        served=[
            *_runs(settings, world, background, audit),
            *OperationsRoutes(
                operations=operations, verdicts=Verdicts(ledger, world.catalogue, audit), audit=audit
            ).served(),
        ],
        guard=_guard(settings, world),
        ready=readiness.check,
        lifespan=lifespan,
        clock=world.clock,
        ids=world.ids,
        body_limit=BODY_LIMIT,
    )


def _runs(settings: CoordinatorSettings, world: World, background: Background, audit: Audit) -> list[Served]:
    """Everything about projects and their runs."""
    store, clock, ids, numbers = world.store, world.clock, world.ids, settings.numbers
    actors = Actors(store, clock=clock, ids=ids)
    scenes = Scenes(store, actors, ids=ids)
    directory = Directory(store)
    dispatcher = Dispatcher(world.tasks, clock=clock)
    documents = RunDocuments(store, clock=clock, ids=ids, numbers=numbers)
    reconciler = Reconciler(documents, scenes, dispatcher, clock=clock, numbers=numbers)
    logs = Logs(store, clock=clock, ids=ids, keep=numbers.keep_runs)
    deliveries = Deliveries(
        store, actors, reconciler, dispatcher, directory, background, clock=clock, ids=ids, numbers=numbers
    )
    refusals = Refusals(store, directory, clock=clock, ids=ids)
    webhooks = Webhooks(actors, directory, deliveries, refusals, audit, clock=clock)
    projects = Projects(store, actors, directory, audit, clock=clock, ids=ids, numbers=numbers)
    runs = Runs(store, actors, scenes, reconciler, directory, logs, audit, clock=clock, ids=ids, numbers=numbers)
    attempts = Attempts(store, scenes, reconciler, dispatcher, clock=clock, ids=ids, numbers=numbers)
    sweeper = Sweeper(store, reconciler, clock=clock, ids=ids)
    return [
        *HooksRoutes(webhooks=webhooks, deliveries=deliveries, refusals=refusals).served(),
        *ConsoleRoutes(projects=projects, runs=runs, webhooks=webhooks, deliveries=deliveries).served(),
        *RunnersRoutes(attempts=attempts, logs=logs).served(),
        *TimersRoutes(reconciler=reconciler, sweeper=sweeper).served(),
    ]


def _ledger(settings: CoordinatorSettings, world: World) -> Ledger | None:
    if world.ledger is None:
        return None
    return world.ledger.ledger(namespace=settings.namespace, clock=world.clock, ids=world.ids)


def _operations(settings: CoordinatorSettings, world: World, ledger: Ledger | None, audit: Audit) -> Operations:
    deployment = Deployment(
        service=settings.ledger_service,
        environment=settings.environment,
        allow_local=settings.allow_local_upstreams,
    )
    return Operations(
        world.catalogue,
        deployment=deployment,
        caller=world.upstream,
        credentials=Credentials(settings.credentials_dir),
        ledger=ledger,
        trail=audit,
        clock=world.clock,
        ids=world.ids,
    )


def _readiness(world: World, ledger: Ledger | None) -> Readiness:
    async def state() -> None:
        # Any id will do: that there is no such document is an answer too.
        await world.store.get([PROJECTS.ref("ready")], fields=("schema",))

    return Readiness(state=state, ledger=None if ledger is None else ledger.probe, clock=world.clock)


def _guard(settings: CoordinatorSettings, world: World) -> ServiceGuard:
    verifier = Verifier(
        world.keys,
        audiences=frozenset({settings.audience}),
        issuers=frozenset({settings.issuer}),
        clock=world.clock,
    )
    allowed = {
        Audience.HOOKS: settings.hooks_callers,
        Audience.CONSOLE: settings.console_callers,
        Audience.RUNNER: settings.runner_callers,
        Audience.TASKS: settings.tasks_callers,
        Audience.SCHEDULER: settings.scheduler_callers,
    }
    return ServiceGuard(verifier, allowed, platform_verifies_callers=settings.platform_verifies_callers)
