"""What is started for each service of a local stack.

gunicorn serves a service as it does in its container; one worker each, because the runner has one run at a time and
SQLite one writer.
"""

import sys
from collections.abc import Mapping
from dataclasses import dataclass
from http import HTTPStatus
from pathlib import Path

import services
from services.local.addresses import Addresses, Service
from services.local.environment import Environment, environment
from services.local.state import StateDirectory

SOURCES = Path(services.__file__).parents[1]
"""Where `services` is imported from, so that the processes import the same."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Program:
    """One process: its output goes to the end of `log`, and `ready_url` answers `ready_status` once it serves."""

    name: str
    command: tuple[str, ...]
    environment: Environment
    log: Path
    ready_url: str
    ready_status: HTTPStatus = HTTPStatus.OK


def programs(
    chosen: frozenset[Service],
    *,
    state: StateDirectory,
    addresses: Addresses,
    inherited: Environment,
    overrides: Mapping[Service, Environment],
) -> tuple[Program, ...]:
    """The chosen services, in the order in which they are started; they are stopped in the reverse one.

    Ingress goes first and the platform last, so that a runner can still report the run that its end cuts short.
    """
    order = (Service.PLATFORM, Service.COORDINATOR, Service.RUNNER, Service.INGRESS)
    return tuple(
        Program(
            name=service,
            command=served_by_gunicorn(service, addresses.bind(service)),
            environment=environment(
                service,
                state=state,
                addresses=addresses,
                inherited=inherited,
                overrides=overrides.get(service, {}),
            ),
            log=state.log(service),
            ready_url=f"{addresses.url(service)}/health/ready",
        )
        for service in order
        if service in chosen
    )


def served_by_gunicorn(service: Service, bind: str) -> tuple[str, ...]:
    package = "local" if service is Service.PLATFORM else service
    return (
        *(sys.executable, "-m", "gunicorn", f"services.{package}.main:application()"),
        *("--config", "python:services.local.serving"),
        *("--bind", bind),
    )
