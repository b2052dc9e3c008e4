"""Starts ingress (`gunicorn 'services.ingress.main:application()'`): reads the environment, chooses adapters."""

from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

import httpx2
from starlette.applications import Starlette

from services.ingress.app import SERVICE, World, create
from services.ingress.roles import Roles
from services.ingress.settings import IngressSettings, Part
from services.kernel import log
from services.kernel.adapters.clock import SystemClock, SystemIds
from services.kernel.adapters.jwks import Jwks
from services.kernel.adapters.minting import minter
from services.kernel.ports import Clock, Minter
from services.kernel.seal import Keyring
from services.kernel.settings import SettingsError, load_or_exit, or_exit

Parsed = TypeVar("Parsed")


def application() -> Starlette:
    settings = load_or_exit(IngressSettings)
    log.configure(SERVICE, level=settings.log_level)
    with or_exit(IngressSettings):
        return create(settings, _world(settings))


def _world(settings: IngressSettings) -> World:
    clock = SystemClock()
    return World(
        http=httpx2.AsyncClient(trust_env=False),
        minters={part: _minter(settings, part, clock) for part in settings.parts},
        keys=Jwks(settings.jwks_url, clock=clock),
        keyring=_read(settings.webhook_keyring_file, Keyring.load, settings.variable("webhook_keyring_file")),
        roles=_read(settings.roles_file, Roles.parse, settings.variable("roles_file"))
        if settings.roles_file
        else Roles(()),
        clock=clock,
        ids=SystemIds(),
    )


def _minter(settings: IngressSettings, part: Part, clock: Clock) -> Minter:
    if part is Part.HOOKS:
        return minter(settings, email=settings.hooks_email, email_setting="hooks_email", clock=clock)
    return minter(settings, email=settings.service_email, email_setting="service_email", clock=clock)


def _read(file: Path, parse: Callable[[bytes], Parsed], variable: str) -> Parsed:
    try:
        return parse(file.read_bytes())
    except (OSError, ValueError) as error:
        raise SettingsError(f"{variable}: {file} cannot be used: {error}") from error
