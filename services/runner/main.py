"""Starts the runner: `gunicorn 'services.runner.main:application()'`.

Alone reads the environment and chooses adapters.
"""

import os

import httpx2
from starlette.applications import Starlette

from services.kernel import log
from services.kernel.adapters.clock import SystemClock, SystemIds
from services.kernel.adapters.jwks import Jwks
from services.kernel.adapters.minting import minter
from services.kernel.settings import load_or_exit, or_exit
from services.runner.app import SERVICE, World, create
from services.runner.sandbox.process import ProcessSandbox
from services.runner.settings import RunnerSettings


def application() -> Starlette:
    settings = load_or_exit(RunnerSettings)
    log.configure(SERVICE, level=settings.log_level)
    with or_exit(RunnerSettings):
        return create(settings, _world(settings))


def _world(settings: RunnerSettings) -> World:
    clock = SystemClock()
    return World(
        http=httpx2.AsyncClient(trust_env=False),
        minter=minter(settings, email=settings.service_email, email_setting="service_email", clock=clock),
        keys=Jwks(settings.jwks_url, clock=clock),
        sandbox=ProcessSandbox(settings.work_dir.absolute(), clock=clock, reaper=os.getppid()),
        clock=clock,
        ids=SystemIds(),
    )
