"""Starts the coordinator: `gunicorn 'services.coordinator.main:application()'`.

Alone reads the environment and chooses adapters.
"""

from concurrent.futures import ThreadPoolExecutor

import httpx2
from starlette.applications import Starlette

from services.coordinator.app import SERVICE, World, create
from services.coordinator.layout import INDEXES
from services.coordinator.settings import CoordinatorSettings
from services.kernel import log
from services.kernel.adapters.clock import SystemClock, SystemIds
from services.kernel.adapters.jwks import Jwks
from services.kernel.adapters.local_minter import LocalMinter
from services.kernel.adapters.local_tasks import LocalTasks
from services.kernel.adapters.sqlite import SqliteStore
from services.kernel.client import Client
from services.kernel.settings import SettingsError, load_or_exit


def application() -> Starlette:
    settings = load_or_exit(CoordinatorSettings)
    log.configure(SERVICE, level=settings.log_level)
    clock = SystemClock()
    world = World(
        store=SqliteStore(
            settings.sqlite_path,
            namespace=settings.namespace,
            indexes=INDEXES,
            executor=ThreadPoolExecutor(max_workers=1, thread_name_prefix="sqlite"),
            clock=clock,
        ),
        tasks=_tasks(settings, clock),
        keys=Jwks(settings.jwks_url, clock=clock),
        clock=clock,
        ids=SystemIds(),
    )
    return create(settings, world)


def _tasks(settings: CoordinatorSettings, clock: SystemClock) -> LocalTasks:
    if settings.local_key_file is None or settings.service_email is None:
        raise SettingsError(f"{settings.variable('local_key_file')}: needed to call the task queue")
    minter = LocalMinter(settings.local_key_file, email=settings.service_email, issuer=settings.issuer, clock=clock)
    client = Client(
        httpx2.AsyncClient(trust_env=False),
        base_url=settings.tasks_url,
        audience=settings.tasks_audience,
        minter=minter,
        clock=clock,
    )
    return LocalTasks(client)
