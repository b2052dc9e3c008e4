"""An ingress and a coordinator, both real, on loopback ports of one event loop, and what is asked of them."""

from collections.abc import AsyncGenerator, Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path

import httpx2
from starlette.applications import Starlette
from starlette.types import ASGIApp, Receive, Scope, Send

from services.coordinator import app as coordinator
from services.coordinator.layout import INDEXES
from services.ingress import app as ingress
from services.ingress.custody import Custody
from services.ingress.roles import Roles
from services.ingress.settings import IngressSettings, Part
from services.kernel.adapters.clock import SystemClock, SystemIds
from services.kernel.adapters.sqlite import SqliteStore
from services.kernel.client import Client
from services.kernel.ids import new_project_id
from services.kernel.seal import Keyring, create_keyring
from services.kernel.wire import internal
from services.kernel.wire.deliveries import Delivery, DeliveryQuery, Provider
from services.kernel.wire.internal import CreateProject
from services.kernel.wire.runs import CancelRun
from services.kernel.wire.webhooks import CreateWebhook, WebhookConfig
from tests.contract.serving import served
from tests.corpus.bodies import REPOSITORY
from tests.corpus.senders import SECRET, Sent
from tests.unit.coordinator import callers
from tests.unit.coordinator.instance import settings as coordinator_settings
from tests.unit.coordinator.queues import KeptTasks
from tests.unit.ingress.issuer import Issuer

ADA = "ada@example.com"
INGRESS = "anvil-ingress"


@dataclass(slots=True, kw_only=True)
class Platform:
    """`app` is ingress itself, `url` where it listens; `another` makes one more that knows nothing yet."""

    url: str
    app: Starlette
    another: Callable[[], Starlette]
    folder: Path
    http: httpx2.AsyncClient
    console: Client
    custody: Custody
    issuer: Issuer
    _numbers: "count[int]" = field(default_factory=lambda: count(1))

    def fresh(self, kind: str) -> str:
        """A name that nothing has yet."""
        return f"{kind}-{next(self._numbers)}"

    async def project(
        self,
        *,
        repository_url: str = REPOSITORY,
        branch: str = "main",
        secret: str = SECRET,
        config: WebhookConfig | None = None,
    ) -> str:
        """A new project with a webhook of each provider; its slug."""
        slug, project_id = self.fresh("p"), new_project_id(SystemIds())
        asked = CreateProject(
            project_id=project_id,
            slug=slug,
            name=slug,
            repository_url=repository_url,
            default_branch=branch,
            actor=ADA,
        )
        await self.console.call(internal.CREATE_PROJECT, body=asked)
        for provider in Provider:
            command = CreateWebhook(
                version=self.fresh("v"),
                enabled=True,
                config=config or WebhookConfig(),
                secret=self.custody.seal(secret, project_id=project_id, provider=provider),
                actor=ADA,
            )
            path = {"project": slug, "provider": provider.value}
            await self.console.call(internal.CREATE_WEBHOOK, path=path, body=command)
        return slug

    async def deliver(self, slug: str, sent: Sent, *, to: str) -> httpx2.Response:
        """The answer of the route of provider `to`."""
        url = f"{self.url}/api/public/hooks/{to}/{slug}"
        return await self.http.post(url, content=sent.body, headers=dict(sent.headers))

    async def call(self, method: str, path: str, *, json: object = None) -> httpx2.Response:
        """The private API, as an admin."""
        headers = {"Authorization": f"Bearer {self.issuer.token(ADA, INGRESS).value}"}
        return await self.http.request(method, f"{self.url}/api/private{path}", json=json, headers=headers)

    async def deliveries(self, slug: str) -> tuple[Delivery, ...]:
        """What is recorded, newest first."""
        query = DeliveryQuery(page_size=100)
        return (await self.console.call(internal.LIST_DELIVERIES, path={"project": slug}, body=query)).items

    async def cancel(self, run: str) -> None:
        await self.console.call(internal.CANCEL_RUN, path={"run": run}, body=CancelRun(actor=ADA))


@asynccontextmanager
async def platform(folder: Path) -> AsyncGenerator[Platform]:
    async with AsyncExitStack() as stack:
        executor = stack.enter_context(ThreadPoolExecutor(1))
        issuer, clock, keyring = Issuer(), SystemClock(), Keyring.load(create_keyring())
        path = folder / "anvil.sqlite"
        store = SqliteStore(path, namespace="test", indexes=INDEXES, executor=executor, clock=clock)
        stack.callback(store.close)
        world = coordinator.World(store=store, tasks=KeptTasks(), keys=issuer, clock=clock, ids=SystemIds())
        inner = coordinator.create(coordinator_settings(path), world)
        [inner_url] = await _entered(stack, inner)
        # The port is taken before the application is made, which has to know its own URL.
        door = _Door()
        [url] = await stack.enter_async_context(served(door))
        door.app = app = _ingress(inner_url, url, issuer, keyring)
        await stack.enter_async_context(app.router.lifespan_context(app))
        http = await stack.enter_async_context(httpx2.AsyncClient(trust_env=False, timeout=30))
        console = Client(
            http, base_url=inner_url, audience=callers.AUDIENCE, minter=issuer.minter(callers.CONSOLE), clock=clock
        )
        custody = Custody(keyring, SystemIds())
        yield Platform(
            url=url,
            app=app,
            another=lambda: _ingress(inner_url, url, issuer, keyring),
            folder=folder,
            http=http,
            console=console,
            custody=custody,
            issuer=issuer,
        )


class _Door:
    """Passes everything on to the application that is put behind it."""

    app: ASGIApp

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await self.app(scope, receive, send)


async def _entered(stack: AsyncExitStack, app: Starlette) -> list[str]:
    await stack.enter_async_context(app.router.lifespan_context(app))
    return await stack.enter_async_context(served(app))


def _ingress(coordinator_url: str, url: str, issuer: Issuer, keyring: Keyring) -> Starlette:
    settings = IngressSettings(
        environment="dev",
        namespace="test",
        audience=INGRESS,
        issuer=callers.ISSUER,
        coordinator_url=coordinator_url,
        coordinator_audience=callers.AUDIENCE,
        webhook_keyring_file=Path("unread"),
        roles_file=Path("unread"),
        public_url=url,
    )
    world = ingress.World(
        http=httpx2.AsyncClient(trust_env=False),
        minters={Part.HOOKS: issuer.minter(callers.HOOKS), Part.CONSOLE: issuer.minter(callers.CONSOLE)},
        keys=issuer,
        keyring=keyring,
        roles=Roles.parse(b'[{"principal": "ada@example.com", "role": "admin", "projects": ["*"]}]'),
        clock=SystemClock(),
        ids=SystemIds(),
    )
    return ingress.create(settings, world)
