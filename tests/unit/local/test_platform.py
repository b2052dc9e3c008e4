"""The platform process plays what Google Cloud does: the scheduler, the issuer of tokens, and who may enqueue."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

import httpx2
import pytest

from services.kernel.adapters.clock import SystemClock, SystemIds
from services.kernel.adapters.jwks import Jwks
from services.kernel.adapters.local_minter import LocalMinter
from services.kernel.adapters.local_tasks import LocalTasks
from services.kernel.client import Client
from services.kernel.endpoint import Audience
from services.kernel.errors import TaskRejected
from services.kernel.identity import ServiceGuard, Verifier
from services.kernel.ports import Target, Task
from services.kernel.settings import load
from services.kernel.web import Call, application, route
from services.kernel.wire import internal
from services.kernel.wire.model import Empty
from services.kernel.wire.runs import ReconcileTask, Swept
from services.local import addresses, state
from services.local.addresses import Addresses, Service
from services.local.environment import environment
from services.local.platform import create
from services.local.settings import PlatformSettings
from services.local.state import StateDirectory
from tests.contract.serving import served

pytestmark = pytest.mark.anyio

CLOCK = SystemClock()
OFTEN = {"ANVIL_SWEEP_SECONDS": "0.05"}
RUN = "run_0123456789012345678901"


class Coordinator:
    """Takes sweeps and tasks from nobody but the scheduler and the tasks identity, and counts them."""

    def __init__(self, where: Addresses) -> None:
        self.swept = asyncio.Event()
        self.reconciled = asyncio.Event()
        verifier = Verifier(
            Jwks(f"{where.url(Service.PLATFORM)}/jwks", clock=CLOCK),
            audiences=frozenset({"anvil-coordinator"}),
            issuers=frozenset({"https://anvil.local"}),
            clock=CLOCK,
        )
        callers = {
            Audience.SCHEDULER: frozenset({"scheduler@anvil.local"}),
            Audience.TASKS: frozenset({"tasks@anvil.local"}),
        }
        self.app = application(
            service="coordinator",
            served=[route(internal.SWEEP, self._sweep), route(internal.RECONCILE, self._reconcile)],
            guard=ServiceGuard(verifier, callers),
            ready=self._ready,
            clock=CLOCK,
            ids=SystemIds(),
        )

    async def _sweep(self, _: Call[Empty]) -> Swept:
        self.swept.set()
        return Swept(looked_at=0, failed=0)

    async def _reconcile(self, call: Call[ReconcileTask]) -> Empty:
        assert call.body.run == RUN
        self.reconciled.set()
        return Empty()

    async def _ready(self) -> None:
        return


@pytest.fixture
def where() -> Addresses:
    return addresses.choose(0)


@pytest.fixture
async def coordinator(where: Addresses, anyio_backend: str) -> AsyncGenerator[Coordinator]:
    stub = Coordinator(where)
    async with served(stub.app, port=where.coordinator):
        yield stub


@pytest.fixture
async def directory(
    where: Addresses, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, anyio_backend: str
) -> AsyncGenerator[StateDirectory]:
    """The state of a running platform."""
    with state.held(tmp_path) as directory:
        told = environment(Service.PLATFORM, state=directory, addresses=where, inherited={}, overrides=OFTEN)
        for name, value in told.items():
            monkeypatch.setenv(name, value)
        app = create(load(PlatformSettings), clock=CLOCK)
        async with served(app, port=where.platform), app.router.lifespan_context(app):
            yield directory


@asynccontextmanager
async def queue(directory: StateDirectory, where: Addresses, *, email: str) -> AsyncGenerator[LocalTasks]:
    minter = LocalMinter(directory.issuer_key, email=email, issuer="https://anvil.local", clock=CLOCK)
    async with httpx2.AsyncClient(trust_env=False) as http:
        url = where.url(Service.PLATFORM)
        yield LocalTasks(Client(http, base_url=url, audience="anvil-platform", minter=minter, clock=CLOCK))


def a_task() -> Task:
    return Task(target=Target.COORDINATOR, path="/tasks/reconcile", body={"run": RUN}, name="a-task")


async def test_the_scheduler_has_the_coordinator_sweep_again_and_again(
    coordinator: Coordinator, directory: StateDirectory
) -> None:
    for _ in range(3):
        async with asyncio.timeout(10):
            await coordinator.swept.wait()
        coordinator.swept.clear()


async def test_a_task_reaches_the_coordinator_signed_as_the_tasks_identity(
    coordinator: Coordinator, directory: StateDirectory, where: Addresses
) -> None:
    async with queue(directory, where, email="coordinator@anvil.local") as tasks:
        await tasks.enqueue(a_task())
    async with asyncio.timeout(10):
        await coordinator.reconciled.wait()


async def test_nobody_but_the_coordinator_may_enqueue(
    coordinator: Coordinator, directory: StateDirectory, where: Addresses
) -> None:
    async with queue(directory, where, email="runner@anvil.local") as tasks:
        with pytest.raises(TaskRejected):
            await tasks.enqueue(a_task())


async def test_the_issuer_publishes_its_public_key_and_nothing_private(
    directory: StateDirectory, where: Addresses
) -> None:
    async with httpx2.AsyncClient(trust_env=False) as http:
        (key,) = (await http.get(f"{where.url(Service.PLATFORM)}/jwks")).json()["keys"]
    assert set(key) == {"alg", "e", "kid", "kty", "n", "use"}
