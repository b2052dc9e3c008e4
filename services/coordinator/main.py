"""Starts the coordinator: `gunicorn 'services.coordinator.main:application()'`.

Alone reads the environment and chooses adapters. What they hold is let go when the last request is answered.
"""

import os
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AsyncExitStack
from datetime import timedelta
from functools import partial
from pathlib import Path

import httpx2
from starlette.applications import Starlette

from services.coordinator.app import SERVICE, World, create
from services.coordinator.layout import INDEXES
from services.coordinator.ledger.backend import Backend, Opening, open_backend, opening
from services.coordinator.operations import catalogue
from services.coordinator.operations.model import Catalogue
from services.coordinator.operations.upstream import HttpCaller
from services.coordinator.settings import CoordinatorSettings
from services.kernel import log
from services.kernel.adapters.clock import SystemClock, SystemIds
from services.kernel.adapters.jwks import Jwks
from services.kernel.adapters.local_tasks import LocalTasks
from services.kernel.adapters.minting import minter
from services.kernel.adapters.resolver import SystemResolver
from services.kernel.adapters.sqlite import SqliteStore
from services.kernel.client import Client
from services.kernel.ports import Clock, Index, Store, Target, TaskQueue
from services.kernel.settings import SettingsError, load_or_exit, or_exit
from services.kernel.strict_yaml import Refused


def application() -> Starlette:
    settings = load_or_exit(CoordinatorSettings)
    log.configure(SERVICE, level=settings.log_level)
    with or_exit(CoordinatorSettings):
        return create(settings, _world(settings))


def _world(settings: CoordinatorSettings) -> World:
    clock, open_until_the_end = SystemClock(), AsyncExitStack()
    ledger = ledger_backend(settings, clock)
    if ledger is not None:
        open_until_the_end.push_async_callback(ledger.close)
    store = _firestore if settings.store == "firestore" else _sqlite
    tasks = _cloud_tasks if settings.tasks == "cloud_tasks" else _local_tasks
    return World(
        store=store(settings, clock, open_until_the_end),
        tasks=tasks(settings, clock, open_until_the_end),
        keys=Jwks(settings.jwks_url, clock=clock),
        clock=clock,
        ids=SystemIds(),
        ledger=ledger,
        catalogue=_catalogue(settings),
        upstream=HttpCaller(SystemResolver(), trust=httpx2.create_ssl_context(trust_env=False)),
        close=open_until_the_end.aclose,
    )


def _catalogue(settings: CoordinatorSettings) -> Catalogue:
    """
    Raises:
        SettingsError: the file cannot be read, is not a catalogue, or needs credentials that there are none of.
    """
    setting, path = settings.variable("operations_file"), settings.operations_file
    if path is None:
        return catalogue.NONE
    try:
        found = catalogue.parse(
            path.read_bytes(),
            replay_ttl=timedelta(seconds=settings.ledger_ttl_seconds),
            allow_local=settings.allow_local_upstreams,
        )
    except (OSError, Refused) as error:
        raise SettingsError(f"{setting}: {path}: {error}") from error
    for operation in found.operations.values():
        if operation.credential is not None and settings.credentials_dir is None:
            raise SettingsError(f"{settings.variable('credentials_dir')}: needed for operation {operation.id}")
    return found


def _firestore(settings: CoordinatorSettings, clock: Clock, opened: AsyncExitStack) -> Store:
    return _firestore_database(settings, "firestore_database", INDEXES, clock=clock, opened=opened)


def _firestore_database(
    settings: CoordinatorSettings, setting: str, indexes: Sequence[Index], *, clock: Clock, opened: AsyncExitStack
) -> Store:
    # Google's libraries are not there where the local stack does without them.
    from services.kernel.adapters import firestore_database
    from services.kernel.adapters.firestore import FirestoreStore

    emulator = firestore_database.emulator(os.environ, environment=settings.environment)
    project, database = settings.needed("google_project"), settings.needed(setting)
    try:
        found = firestore_database.Database(project=project, id=database, emulator=emulator)
    except ValueError as error:
        variables = f"{settings.variable('google_project')}, {settings.variable(setting)}"
        raise SettingsError(f"{variables}: {error}") from error
    store = FirestoreStore(found, namespace=settings.namespace, indexes=indexes, clock=clock)
    opened.push_async_callback(store.close)
    return store


def _sqlite(settings: CoordinatorSettings, clock: Clock, opened: AsyncExitStack) -> Store:
    return _sqlite_file(settings, Path(settings.needed("sqlite_path")), INDEXES, clock=clock, opened=opened)


def _sqlite_file(
    settings: CoordinatorSettings, path: Path | None, indexes: Sequence[Index], *, clock: Clock, opened: AsyncExitStack
) -> Store:
    executor = ThreadPoolExecutor(max_workers=1, thread_name_prefix="sqlite")
    store = SqliteStore(path, namespace=settings.namespace, indexes=indexes, executor=executor, clock=clock)
    opened.callback(store.close)
    opened.callback(executor.shutdown)
    return store


def ledger_backend(settings: CoordinatorSettings, clock: Clock) -> Backend | None:
    """
    Raises:
        SettingsError: there is no such backend, it cannot be opened, or it is not one for this environment.
    """
    told = opening(
        environment=settings.environment, namespace=settings.namespace, clock=clock, variables=dict(os.environ)
    )
    own = {
        "firestore": partial(_firestore_ledger, settings),
        "sqlite": partial(_sqlite_ledger, settings),
        "memory": partial(_memory_ledger, settings),
    }
    return open_backend(settings.ledger, told, own=own, setting=settings.variable("ledger"))


def _firestore_ledger(settings: CoordinatorSettings, told: Opening) -> Backend:
    setting = "firestore_database" if settings.ledger_database is None else "ledger_database"
    opened = AsyncExitStack()
    store = _firestore_database(settings, setting, told.indexes, clock=told.clock, opened=opened)
    return Backend(name="firestore", store=store, durable=True, close=opened.aclose)


def _sqlite_ledger(settings: CoordinatorSettings, told: Opening) -> Backend:
    opened = AsyncExitStack()
    path = Path(settings.needed("sqlite_path"))
    store = _sqlite_file(settings, path, told.indexes, clock=told.clock, opened=opened)
    return Backend(name="sqlite", store=store, durable=True, close=opened.aclose)


def _memory_ledger(settings: CoordinatorSettings, told: Opening) -> Backend:
    opened = AsyncExitStack()
    store = _sqlite_file(settings, None, told.indexes, clock=told.clock, opened=opened)
    return Backend(name="memory", store=store, durable=False, close=opened.aclose)


def _cloud_tasks(settings: CoordinatorSettings, clock: Clock, opened: AsyncExitStack) -> TaskQueue:
    from services.kernel.adapters.cloud_tasks import CloudTasks, Lane

    account = settings.needed("tasks_service_account")
    audiences = {Target.COORDINATOR: settings.audience, Target.RUNNER: settings.needed("runner_audience")}
    lanes = {
        target: Lane(
            queue=settings.needed(f"{target}_queue"),
            base_url=settings.needed(f"{target}_url"),
            audience=audience,
            service_account=account,
        )
        for target, audience in audiences.items()
    }
    tasks = CloudTasks(lanes, clock=clock, emulator=settings.tasks_emulator)
    opened.push_async_callback(tasks.close)
    return tasks


def _local_tasks(settings: CoordinatorSettings, clock: Clock, opened: AsyncExitStack) -> TaskQueue:
    http = httpx2.AsyncClient(trust_env=False)
    opened.push_async_callback(http.aclose)
    client = Client(
        http,
        base_url=settings.needed("tasks_url"),
        audience=settings.needed("tasks_audience"),
        minter=minter(settings, email=settings.service_email, email_setting="service_email", clock=clock),
        clock=clock,
    )
    return LocalTasks(client)
