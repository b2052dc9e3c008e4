"""The three services as a deployment has them: real applications, behind Cloud Run's front end or open to anybody."""

from collections.abc import AsyncGenerator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

import httpx2
import orjson
from starlette.types import ASGIApp

from services.coordinator import app as coordinator
from services.coordinator.layout import INDEXES
from services.coordinator.settings import CoordinatorSettings
from services.ingress import app as ingress
from services.ingress.roles import Roles
from services.ingress.settings import IngressSettings, Part
from services.kernel.adapters.clock import SystemClock, SystemIds
from services.kernel.adapters.sqlite import SqliteStore
from services.kernel.seal import Keyring, create_keyring
from services.local.doubles.front_end import GCLOUD_AUDIENCE, FrontEnd, Policy
from services.local.doubles.upstream import SERVER
from services.runner import app as runner
from services.runner.sandbox.process import ProcessSandbox
from services.runner.settings import RunnerSettings
from tests.security.tokens import ISSUER, Issuer
from tests.unit.coordinator.queues import KeptTasks

HOOKS, CONSOLE, RUNNER = "hooks@anvil.test", "console@anvil.test", "runner@anvil.test"
TASKS, SCHEDULER = "tasks@anvil.test", "scheduler@anvil.test"
PERSON = "ada@example.com"
CALLERS = {
    "hooks": HOOKS,
    "console": CONSOLE,
    "runner": RUNNER,
    "tasks": TASKS,
    "scheduler": SCHEDULER,
    "person": PERSON,
    "stranger": "sam@example.com",
}
CARRIER = "carrier@anvil.test"
"""May invoke every service and may do nothing in any."""


class Service(StrEnum):
    COORDINATOR = "coordinator"
    RUNNER = "runner"
    CONSOLE = "console"

    @property
    def audience(self) -> str:
        return f"https://{self}.test"


INVOKERS: Mapping[Service, frozenset[str]] = {
    Service.COORDINATOR: frozenset({HOOKS, CONSOLE, RUNNER, TASKS, SCHEDULER, CARRIER}),
    Service.RUNNER: frozenset({TASKS, CARRIER}),
    Service.CONSOLE: frozenset({PERSON, CARRIER}),
}


class Exposure(StrEnum):
    """`UNBELIEVED`: as private, but the setting that believes Cloud Run is off."""

    PRIVATE = "private"
    PUBLIC = "public"
    UNBELIEVED = "unbelieved"


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    issuer: Issuer
    folder: Path
    executor: ThreadPoolExecutor


@dataclass(frozen=True, slots=True)
class Deployment:
    """`http` reaches each service by its URL, which is its audience too."""

    issuer: Issuer
    http: httpx2.AsyncClient

    async def outcome(self, method: str, url: str, headers: Mapping[str, str]) -> str:
        """`in` or the refusal's status; `front` before it: the service itself was not reached."""
        answer = await self.http.request(method, url, headers=dict(headers), json=None if method == "GET" else {})
        if answer.status_code in (401, 403):
            return f"front {answer.status_code}" if answer.headers.get("Server") == SERVER else f"{answer.status_code}"
        assert answer.status_code in (200, 400), answer.text
        return "in"


@asynccontextmanager
async def deployment(place: Place, exposure: Exposure) -> AsyncGenerator[Deployment]:
    believes = exposure is Exposure.PRIVATE
    store = SqliteStore(
        place.folder / "store.db", namespace="test", indexes=INDEXES, executor=place.executor, clock=SystemClock()
    )
    services = {
        Service.COORDINATOR: _coordinator(place, store, believes=believes),
        Service.RUNNER: _runner(place, believes=believes),
        Service.CONSOLE: _console(place, believes=believes),
    }
    mounts = {
        service.audience: httpx2.ASGITransport(FrontEnd(app, _policy(service, exposure, place.issuer)))
        for service, app in services.items()
    }
    async with httpx2.AsyncClient(mounts=mounts, trust_env=False) as http:
        yield Deployment(place.issuer, http)
    store.close()


def _policy(service: Service, exposure: Exposure, issuer: Issuer) -> Policy:
    invokers = None if exposure is Exposure.PUBLIC else INVOKERS[service]
    return Policy(audience=service.audience, invokers=invokers, issuer=ISSUER, keys=issuer)


def _coordinator(place: Place, store: SqliteStore, *, believes: bool) -> ASGIApp:
    settings = CoordinatorSettings(
        environment="dev",
        namespace="test",
        audience=Service.COORDINATOR.audience,
        issuer=ISSUER,
        platform_verifies_callers=believes,
        store="sqlite",
        sqlite_path=place.folder / "store.db",
        tasks="local",
        tasks_url="http://tasks.test",
        tasks_audience="tasks",
        hooks_callers=frozenset({HOOKS}),
        console_callers=frozenset({CONSOLE}),
        runner_callers=frozenset({RUNNER}),
        tasks_callers=frozenset({TASKS}),
        scheduler_callers=frozenset({SCHEDULER}),
    )
    world = coordinator.World(store=store, tasks=KeptTasks(), keys=place.issuer, clock=SystemClock(), ids=SystemIds())
    return coordinator.create(settings, world)


def _runner(place: Place, *, believes: bool) -> ASGIApp:
    settings = RunnerSettings(
        environment="dev",
        namespace="test",
        audience=Service.RUNNER.audience,
        issuer=ISSUER,
        platform_verifies_callers=believes,
        coordinator_url=Service.COORDINATOR.audience,
        coordinator_audience=Service.COORDINATOR.audience,
        tasks_callers=frozenset({TASKS}),
        work_dir=place.folder / "work",
        sandbox="process",
    )
    world = runner.World(
        http=httpx2.AsyncClient(trust_env=False),
        minter=place.issuer.minter(RUNNER),
        keys=place.issuer,
        sandbox=ProcessSandbox(place.folder / "work", clock=SystemClock()),
        clock=SystemClock(),
        ids=SystemIds(),
    )
    return runner.create(settings, world)


def _console(place: Place, *, believes: bool) -> ASGIApp:
    settings = IngressSettings(
        environment="dev",
        namespace="test",
        audience=Service.CONSOLE.audience,
        issuer=ISSUER,
        platform_verifies_callers=believes,
        parts=frozenset({Part.CONSOLE}),
        coordinator_url=Service.COORDINATOR.audience,
        coordinator_audience=Service.COORDINATOR.audience,
        webhook_keyring_file=Path("unread"),
        roles_file=Path("unread"),
        public_url=Service.CONSOLE.audience,
        people_audiences=frozenset({GCLOUD_AUDIENCE}),
    )
    world = ingress.World(
        http=httpx2.AsyncClient(trust_env=False),
        minters={Part.CONSOLE: place.issuer.minter(CONSOLE)},
        keys=place.issuer,
        keyring=Keyring.load(create_keyring()),
        roles=Roles.parse(orjson.dumps([{"principal": PERSON, "role": "viewer", "projects": ["*"]}])),
        clock=SystemClock(),
        ids=SystemIds(),
    )
    return ingress.create(settings, world)
