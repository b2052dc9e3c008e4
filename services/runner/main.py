"""Starts the runner: `gunicorn 'services.runner.main:application()'`.

Alone reads the environment and chooses adapters.
"""

import os

import httpx2
from starlette.applications import Starlette

from services.kernel import log
from services.kernel.adapters.clock import SystemClock, SystemIds
from services.kernel.adapters.jwks import Jwks
from services.kernel.adapters.local_minter import LocalMinter
from services.kernel.settings import SettingsError, load_or_exit
from services.runner.app import SERVICE, World, create
from services.runner.sandbox.process import ProcessSandbox
from services.runner.settings import RunnerSettings


def application() -> Starlette:
    settings = load_or_exit(RunnerSettings)
    log.configure(SERVICE, level=settings.log_level)
    clock = SystemClock()
    world = World(
        http=httpx2.AsyncClient(trust_env=False),
        minter=_minter(settings, clock),
        keys=Jwks(settings.jwks_url, clock=clock),
        sandbox=ProcessSandbox(settings.work_dir.absolute(), clock=clock, reaper=os.getppid()),
        clock=clock,
        ids=SystemIds(),
    )
    return create(settings, world)


def _minter(settings: RunnerSettings, clock: SystemClock) -> LocalMinter:
    if settings.local_key_file is None or settings.service_email is None:
        raise SettingsError(f"{settings.variable('local_key_file')}: needed to call the coordinator")
    return LocalMinter(settings.local_key_file, email=settings.service_email, issuer=settings.issuer, clock=clock)
