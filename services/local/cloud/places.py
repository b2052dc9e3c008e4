"""Where everything is in a local stack on Firestore, and what its instances are told of it.

Pure.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from services.local import identities
from services.local.addresses import HOST, Addresses, Service
from services.local.environment import Environment
from services.local.state import StateDirectory


@dataclass(frozen=True, slots=True, kw_only=True)
class Places:
    """Where those listen that only this stack has: Cloud Tasks (a port), Firestore (`host:port`), and the instances.

    `project` is a Google Cloud project of this stack's own in the emulator.
    """

    project: str
    firestore: str
    tasks: int
    instances: Mapping[Service, tuple[int, ...]]

    def urls(self, service: Service) -> tuple[str, ...]:
        """The instances of a service, past its front end."""
        return tuple(f"http://{HOST}:{port}" for port in self.instances[service])


def queue(places: Places, service: Service) -> str:
    """The full resource name of the queue of tasks for a service."""
    return f"projects/{places.project}/locations/local/queues/{service}"


def told(service: Service, number: int, *, state: StateDirectory, addresses: Addresses, places: Places) -> Environment:
    """What instance `number` (from 1) is told otherwise than in a stack on the embedded store."""
    match service:
        case Service.COORDINATOR:
            return _coordinator(places, addresses)
        case Service.RUNNER:
            work = state.root / f"work-{number}"
            return {"ANVIL_PLATFORM_VERIFIES_CALLERS": "true", "ANVIL_WORK_DIR": str(work)}
        case Service.INGRESS | Service.PLATFORM:
            return {}


def _coordinator(places: Places, addresses: Addresses) -> Environment:
    return {
        "ANVIL_PLATFORM_VERIFIES_CALLERS": "true",
        "ANVIL_STORE": "firestore",
        "ANVIL_LEDGER": "firestore",
        "ANVIL_GOOGLE_PROJECT": places.project,
        "FIRESTORE_EMULATOR_HOST": places.firestore,
        "ANVIL_TASKS": "cloud_tasks",
        "ANVIL_TASKS_EMULATOR": f"{HOST}:{places.tasks}",
        "ANVIL_TASKS_SERVICE_ACCOUNT": identities.TASKS,
        "ANVIL_COORDINATOR_QUEUE": queue(places, Service.COORDINATOR),
        "ANVIL_COORDINATOR_URL": addresses.url(Service.COORDINATOR),
        "ANVIL_RUNNER_QUEUE": queue(places, Service.RUNNER),
        "ANVIL_RUNNER_URL": addresses.url(Service.RUNNER),
    }
