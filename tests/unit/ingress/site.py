"""An ingress in front of an in-memory coordinator, both real applications, and its callers."""

from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

import httpx2
from starlette.applications import Starlette

from services.ingress.app import World, create
from services.ingress.custody import Custody
from services.ingress.roles import Roles
from services.ingress.settings import IngressSettings, Part
from services.kernel.adapters.clock import SystemClock, SystemIds
from services.kernel.seal import Keyring, create_keyring
from services.kernel.wire.deliveries import Provider
from services.kernel.wire.webhooks import WebhookConfig
from tests.unit.ingress import coordinator as double
from tests.unit.ingress.coordinator import InMemoryCoordinator, StoredWebhook, project
from tests.unit.ingress.github_deliveries import SECRET
from tests.unit.ingress.issuer import ISSUER, Issuer

AUDIENCE = "anvil-ingress"
ADMIN = "ada@example.com"
OPERATOR = "olga@example.com"
VIEWER = "vic@example.com"
STRANGER = "sam@example.com"
NEIGHBOUR = "nina@example.com"

ROLES = f"""[
  {{"principal": "{ADMIN}", "role": "admin", "projects": ["*"]}},
  {{"principal": "{OPERATOR}", "role": "operator", "projects": ["site"]}},
  {{"principal": "{VIEWER}", "role": "viewer", "projects": ["site"]}},
  {{"principal": "{NEIGHBOUR}", "role": "admin", "projects": ["other"]}}
]"""


class MovableClock(SystemClock):
    """Time passes only where a test moves it; the time of day is the machine's."""

    def __init__(self) -> None:
        self.passed = timedelta()

    def elapsed(self) -> timedelta:
        return self.passed


@dataclass(slots=True, kw_only=True)
class Site:
    """`http` calls ingress without a network."""

    coordinator: InMemoryCoordinator
    issuer: Issuer
    custody: Custody
    clock: MovableClock
    app: Starlette
    http: httpx2.AsyncClient

    def webhook(
        self,
        provider: Provider = Provider.GITHUB,
        *,
        secret: bytes = SECRET,
        slug: str = "site",
        version: str = "v1",
        enabled: bool = True,
        config: WebhookConfig | None = None,
    ) -> None:
        """Give a project a webhook, or another one in the place of its old one."""
        owner = self.coordinator.projects[slug].project_id
        sealed = self.custody.seal(secret.decode(), project_id=owner, provider=provider)
        self.coordinator.webhooks[slug, provider] = StoredWebhook(version, enabled, sealed, config or WebhookConfig())

    async def deliver(
        self, body: bytes, headers: Mapping[str, str], *, slug: str = "site", provider: str = "github"
    ) -> httpx2.Response:
        return await self.http.post(f"/api/public/hooks/{provider}/{slug}", content=body, headers=dict(headers))

    async def call(
        self, method: str, path: str, *, json: object = None, by: str = ADMIN, headers: Mapping[str, str] | None = None
    ) -> httpx2.Response:
        """The private API, as a person."""
        token = self.issuer.token(by, AUDIENCE).value
        sent = {"Authorization": f"Bearer {token}", **(headers or {})}
        return await self.http.request(method, f"/api/private{path}", json=json, headers=sent)


def settings(*, local: bool) -> IngressSettings:
    return IngressSettings(
        environment="dev",
        namespace="test",
        audience=AUDIENCE,
        issuer=ISSUER,
        coordinator_url="http://coordinator",
        coordinator_audience=double.AUDIENCE,
        webhook_keyring_file=Path("unread"),
        roles_file=Path("unread"),
        public_url="https://ci.example.com/",
        allow_local_repositories=local,
    )


@asynccontextmanager
async def site(issuer: Issuer, *, local: bool = False) -> AsyncGenerator[Site]:
    """A site with the projects `site` and `other`, without webhooks."""
    coordinator = InMemoryCoordinator()
    coordinator.projects = {"site": project("site"), "other": project("other", project_id="prj_0000000000000000000002")}
    keyring, clock, ids = Keyring.load(create_keyring()), MovableClock(), SystemIds()
    world = World(
        http=httpx2.AsyncClient(transport=httpx2.ASGITransport(coordinator.app(issuer))),
        minters={Part.HOOKS: issuer.minter(double.HOOKS), Part.CONSOLE: issuer.minter(double.CONSOLE)},
        keys=issuer,
        keyring=keyring,
        roles=Roles.parse(ROLES.encode()),
        clock=clock,
        ids=ids,
    )
    app = create(settings(local=local), world)
    transport = httpx2.ASGITransport(app)
    async with app.router.lifespan_context(app), httpx2.AsyncClient(transport=transport, base_url="http://ci") as http:
        yield Site(
            coordinator=coordinator, issuer=issuer, custody=Custody(keyring, ids), clock=clock, app=app, http=http
        )
