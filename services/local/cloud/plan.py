"""The processes of a local stack on Firestore: each service in several instances, behind Cloud Run's front end.

Who is called is found where it is in any local stack; the instances behind it have ports of their own.
"""

import sys
from collections.abc import Mapping
from dataclasses import dataclass
from http import HTTPStatus

from services.local import identities
from services.local.addresses import HOST, Addresses, Service
from services.local.cloud.places import Places, queue, told
from services.local.environment import Environment, environment
from services.local.program import Program, served_by_gunicorn
from services.local.state import StateDirectory

FIRESTORE = "firestore"
"""The emulator's process."""

AUDIENCES = {
    Service.INGRESS: identities.INGRESS_AUDIENCE,
    Service.COORDINATOR: identities.COORDINATOR_AUDIENCE,
    Service.RUNNER: identities.RUNNER_AUDIENCE,
}
INVOKERS: Mapping[Service, tuple[str, ...]] = {
    Service.COORDINATOR: (
        identities.HOOKS,
        identities.CONSOLE,
        identities.RUNNER,
        identities.TASKS,
        identities.SCHEDULER,
    ),
    Service.RUNNER: (identities.TASKS,),
}
"""Who may invoke a private service; anybody may invoke the others."""

COORDINATOR_DISPATCHES = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class Scene:
    """All that the plan is made of."""

    state: StateDirectory
    addresses: Addresses
    places: Places
    inherited: Environment
    overrides: Mapping[Service, Environment]


def programs(scene: Scene) -> tuple[Program, ...]:
    """All but the emulator, in the order in which they are started; they are stopped in the reverse one."""
    behind = [
        _instance(service, number, scene)
        for service in (Service.COORDINATOR, Service.RUNNER, Service.INGRESS)
        for number in range(1, len(scene.places.instances[service]) + 1)
    ]
    private = [_front_end(service, scene) for service in (Service.COORDINATOR, Service.RUNNER)]
    return (_google(scene), *private, *behind, _front_end(Service.INGRESS, scene))


def emulator(command: tuple[str, ...], scene: Scene) -> Program:
    return _tied(FIRESTORE, command, scene, ready_url=f"http://{scene.places.firestore}/")


def _google(scene: Scene) -> Program:
    """Cloud Tasks, Cloud Scheduler and the issuer of tokens."""
    places, addresses = scene.places, scene.addresses
    queues = {Service.COORDINATOR: COORDINATOR_DISPATCHES, Service.RUNNER: len(places.instances[Service.RUNNER])}
    command = (
        *_module("cloud"),
        *("--port", str(places.tasks), "--http-port", str(addresses.platform)),
        *("--key-file", str(scene.state.issuer_key), "--issuer", identities.ISSUER),
        *(f"--queue={queue(places, service)}={dispatches}" for service, dispatches in queues.items()),
        *("--sweep", f"{addresses.url(Service.COORDINATOR)}/sweep"),
        *("--sweep-audience", identities.COORDINATOR_AUDIENCE, "--sweep-as", identities.SCHEDULER),
    )
    return _tied(Service.PLATFORM, command, scene, ready_url=f"{addresses.url(Service.PLATFORM)}/jwks")


def _front_end(service: Service, scene: Scene) -> Program:
    """A private one is ready when it refuses the nameless who ask."""
    addresses = scene.addresses
    invokers = INVOKERS.get(service)
    command = (
        *_module("front_end"),
        *("--port", str(addresses.port(service)), "--audience", AUDIENCES[service], "--issuer", identities.ISSUER),
        *("--jwks-url", f"{addresses.url(Service.PLATFORM)}/jwks"),
        *(f"--upstream={url}" for url in scene.places.urls(service)),
        *(("--public",) if invokers is None else (f"--invoker={email}" for email in invokers)),
    )
    return _tied(
        f"{service}-front",
        command,
        scene,
        ready_url=f"{addresses.url(service)}/health/ready",
        ready_status=HTTPStatus.OK if invokers is None else HTTPStatus.UNAUTHORIZED,
    )


def _tied(
    name: str, command: tuple[str, ...], scene: Scene, *, ready_url: str, ready_status: HTTPStatus = HTTPStatus.OK
) -> Program:
    """A process that is no service: told all on its command line, and ended with the supervisor."""
    return Program(
        name=name,
        command=(sys.executable, "-m", "services.local.tied", *command),
        environment=scene.inherited,
        log=scene.state.log(name),
        ready_url=ready_url,
        ready_status=ready_status,
    )


def _module(name: str) -> tuple[str, ...]:
    return (sys.executable, "-m", f"services.local.doubles.{name}")


def _instance(service: Service, number: int, scene: Scene) -> Program:
    port = scene.places.instances[service][number - 1]
    own = {
        **told(service, number, state=scene.state, addresses=scene.addresses, places=scene.places),
        **scene.overrides.get(service, {}),
    }
    return Program(
        name=f"{service}-{number}",
        command=served_by_gunicorn(service, f"{HOST}:{port}"),
        environment=environment(
            service, state=scene.state, addresses=scene.addresses, inherited=scene.inherited, overrides=own
        ),
        log=scene.state.log(f"{service}-{number}"),
        ready_url=f"http://{HOST}:{port}/health/ready",
    )
