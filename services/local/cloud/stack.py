"""A running local stack on Firestore."""

import asyncio
import hashlib
import os
import sys
from asyncio.subprocess import Process
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from importlib.util import find_spec

from services.local import addresses as ports
from services.local import stack
from services.local.addresses import HOST, Addresses, Service
from services.local.cloud import plan
from services.local.cloud.places import Places
from services.local.cloud.plan import Scene
from services.local.emulator.installation import ADVICE, command
from services.local.environment import Environment
from services.local.program import SOURCES, Program
from services.local.stack import Stack
from services.local.state import StateDirectory, publish
from services.local.supervisor import Report, StartFailed

EMULATOR = "FIRESTORE_EMULATOR_HOST"
NO_LIBRARIES = "a stack on Firestore needs Google's libraries: python -m pip install -r requirements/cloud.txt"

_BEHIND = (Service.COORDINATOR, Service.RUNNER, Service.INGRESS)


@dataclass(frozen=True, slots=True, kw_only=True)
class CloudStack(Stack):
    places: Places


@asynccontextmanager
async def running(
    state: StateDirectory,
    *,
    addresses: Addresses,
    report: Report,
    instances: int = 1,
    firestore: str | None = None,
    overrides: Mapping[Service, Environment] | None = None,
) -> AsyncGenerator[CloudStack]:
    """So many instances of each service, ready, until the end of the block.

    `firestore` is an emulator that runs already (`host:port`); else it is the one that the environment names, else one
    is started, which forgets everything at the end.

    Raises:
        StartFailed: one of the processes did not come to serve, or there is no emulator, or this is not Linux.
    """
    if not _are_there("google.cloud.firestore_v1", "google.cloud.tasks_v2"):
        raise StartFailed(NO_LIBRARIES)
    given = firestore or os.environ.get(EMULATOR)
    places = _places(state, given, instances=instances)
    scene = Scene(state=state, addresses=addresses, places=places, inherited=os.environ, overrides=overrides or {})
    everything = (*(() if given else (_emulator(scene),)), *plan.programs(scene))
    async with (
        _warming(places.firestore) as warming,
        stack.started(everything, state=state, addresses=addresses, report=report) as started,
    ):
        if await warming.wait() != 0:
            raise StartFailed(f"the Firestore emulator at {places.firestore} did not read and write in time")
        publish(state.endpoint, f"{started.endpoint}\n")
        yield CloudStack(state=state, addresses=addresses, keepers=started.keepers, places=places)


def _places(state: StateDirectory, given: str | None, *, instances: int) -> Places:
    firestore, tasks, *behind = ports.free(2 + instances * len(_BEHIND))
    return Places(
        # Several stacks may share an emulator; each finds its own again.
        project=f"demo-{hashlib.sha256(str(state.root).encode()).hexdigest()[:16]}",
        firestore=given or f"{HOST}:{firestore}",
        tasks=tasks,
        instances={service: tuple(behind[number :: len(_BEHIND)]) for number, service in enumerate(_BEHIND)},
    )


def _emulator(scene: Scene) -> Program:
    asked = command(int(scene.places.firestore.rpartition(":")[2]))
    if asked is None:
        raise StartFailed(ADVICE)
    return plan.emulator(tuple(asked), scene)


@asynccontextmanager
async def _warming(firestore: str) -> AsyncGenerator[Process]:
    """A process that ends well once the emulator is warm. It is not this one, which stays free of gRPC and can fork."""
    asked = (sys.executable, "-m", "services.local.emulator.warmth", firestore)
    process = await asyncio.create_subprocess_exec(*asked, cwd=SOURCES, stderr=asyncio.subprocess.DEVNULL)
    try:
        yield process
    finally:
        with suppress(ProcessLookupError):
            process.kill()
        await process.wait()


def _are_there(*modules: str) -> bool:
    try:
        return all(find_spec(module) for module in modules)
    except ModuleNotFoundError:
        return False
