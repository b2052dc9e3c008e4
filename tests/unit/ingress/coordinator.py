"""A coordinator in memory, behind the real declarations and guard. It decides little; tests set its answers."""

from collections import deque
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import TypeVar

from starlette.applications import Starlette

from services.kernel.adapters.clock import SystemClock, SystemIds
from services.kernel.endpoint import Audience, Endpoint
from services.kernel.errors import AnvilError, NotFound, SlugTaken, StaleVerification, WebhookChanged
from services.kernel.identity import ServiceGuard, Verifier
from services.kernel.runs import Kind, Status, Trigger
from services.kernel.web import Call, Served, application, route
from services.kernel.wire import internal
from services.kernel.wire.audit import Actor
from services.kernel.wire.deliveries import (
    AcceptDelivery,
    Canonical,
    Delivery,
    DeliveryAnswer,
    DeliveryQuery,
    Outcome,
    Provider,
)
from services.kernel.wire.model import Empty, Page, Wire
from services.kernel.wire.projects import Project
from services.kernel.wire.runs import AcceptRun, CancelRun, LogPart, Run, RunAccepted, RunView
from services.kernel.wire.webhooks import (
    CountRefusals,
    CreateWebhook,
    ReplaceSecret,
    SealedSecret,
    UpdateWebhook,
    Verification,
    Webhook,
    WebhookConfig,
)
from tests.unit.ingress.issuer import ISSUER, Issuer

AUDIENCE = "anvil-coordinator"
HOOKS = "hooks@anvil.local"
CONSOLE = "console@anvil.local"
NOW = datetime(2026, 11, 30, 9, 30, tzinfo=UTC)

Req = TypeVar("Req", bound=Wire)
Res = TypeVar("Res", bound=Wire)


def project(slug: str = "site", **changed: object) -> Project:
    whole: dict[str, object] = {
        "slug": slug,
        "project_id": "prj_0000000000000000000001",
        "name": slug,
        "repository_url": "https://github.com/octo/hello.git",
        "default_branch": "main",
        "config_path": ".anvil.yml",
        "created_at": NOW,
        "active_run_id": None,
        "queued": 0,
    }
    return Project.model_validate(whole | changed)


def run(run_id: str, *, of: str = "site") -> RunView:
    summary = Run(
        run_id=run_id,
        project=of,
        kind=Kind.ACTION,
        trigger=Trigger.MANUAL,
        actor=None,
        status=Status.QUEUED,
        position=1,
        branch="main",
        commit_sha=None,
        before_sha=None,
        reason=None,
        queued_at=NOW,
        started_at=None,
        finished_at=None,
        exit_code=None,
    )
    return RunView(run=summary, steps=(), reason=None, detail=None, place=1, log_tail=(), links={})


def recorded(canonical: Canonical, outcome: Outcome | None) -> Delivery:
    return Delivery(
        id="dlv_0000000000000000000001",
        delivery_id=canonical.delivery_id,
        provider=canonical.provider,
        flavor=canonical.flavor,
        event_kind=canonical.event_kind,
        event_name=canonical.event_name,
        outcome=outcome or Outcome.ACCEPTED,
        note=None,
        repository_url=canonical.repository_url,
        ref=canonical.ref,
        branch=canonical.branch,
        commit_sha=canonical.commit_sha,
        before_sha=canonical.before_sha,
        run_id=None,
        received_at=NOW,
        decided_at=NOW,
        duplicate_count=0,
        last_duplicate_at=None,
    )


@dataclass(slots=True)
class StoredWebhook:
    version: str
    enabled: bool
    secret: SealedSecret
    config: WebhookConfig = field(default_factory=WebhookConfig)

    def shown(self, provider: Provider) -> Webhook:
        return Webhook(
            provider=provider, enabled=self.enabled, version=self.version, config=self.config, rotated_at=NOW
        )


@dataclass(slots=True)
class InMemoryCoordinator:
    """`called` are the paths asked for, in order; `meanwhile` happens before a path is answered, once each."""

    projects: dict[str, Project] = field(default_factory=dict[str, Project])
    webhooks: dict[tuple[str, str], StoredWebhook] = field(default_factory=dict[tuple[str, str], StoredWebhook])
    runs: dict[str, RunView] = field(default_factory=dict[str, RunView])
    refused: list[tuple[str, CountRefusals]] = field(default_factory=list[tuple[str, CountRefusals]])
    accepted: list[AcceptDelivery] = field(default_factory=list[AcceptDelivery])
    commands: list[Wire] = field(default_factory=list[Wire])
    called: list[str] = field(default_factory=list[str])
    outcome: Outcome = Outcome.ACCEPTED
    duplicate: bool = False
    _meanwhile: dict[str, deque[Callable[[], Awaitable[None]]]] = field(
        default_factory=dict[str, deque[Callable[[], Awaitable[None]]]]
    )

    def meanwhile(self, endpoint: Endpoint[Req, Res], happens: Callable[[], Awaitable[None]]) -> None:
        """What happens when `endpoint` is asked for next, before it answers."""
        self._meanwhile.setdefault(endpoint.path, deque()).append(happens)

    def fail(self, endpoint: Endpoint[Req, Res], *errors: AnvilError) -> None:
        """The next answers of `endpoint`."""
        for error in errors:
            self.meanwhile(endpoint, _raises(error))

    def app(self, issuer: Issuer) -> Starlette:
        clock = SystemClock()
        verifier = Verifier(issuer, audiences=frozenset({AUDIENCE}), issuers=frozenset({ISSUER}), clock=clock)
        allowed = {Audience.HOOKS: frozenset({HOOKS}), Audience.CONSOLE: frozenset({CONSOLE})}
        return application(
            service="coordinator",
            served=self._served(),
            guard=ServiceGuard(verifier, allowed),
            ready=_ready,
            clock=clock,
            ids=SystemIds(),
        )

    def _served(self) -> list[Served]:
        return [
            self._route(internal.VERIFICATION, self._verification),
            self._route(internal.TEST_MATERIAL, self._verification),
            self._route(internal.ACCEPT_DELIVERY, self._accept_delivery),
            self._route(internal.COUNT_REFUSALS, self._count_refusals),
            self._route(internal.LIST_DELIVERIES, self._list_deliveries),
            self._route(internal.LIST_PROJECTS, self._list_projects),
            self._route(internal.CREATE_PROJECT, self._create_project),
            self._route(internal.GET_PROJECT, self._get_project),
            self._route(internal.PATCH_PROJECT, self._patch_project),
            self._route(internal.ACCEPT_RUN, self._accept_run),
            self._route(internal.GET_RUN, self._get_run),
            self._route(internal.GET_LOG, self._get_log),
            self._route(internal.CANCEL_RUN, self._cancel_run),
            self._route(internal.LIST_WEBHOOKS, self._list_webhooks),
            self._route(internal.CREATE_WEBHOOK, self._create_webhook),
            self._route(internal.UPDATE_WEBHOOK, self._update_webhook),
            self._route(internal.REPLACE_SECRET, self._replace_secret),
            self._route(internal.DELETE_WEBHOOK, self._delete_webhook),
        ]

    def _route(self, endpoint: Endpoint[Req, Res], handler: Callable[[Call[Req]], Awaitable[Res]]) -> Served:
        async def observed(call: Call[Req]) -> Res:
            self.called.append(endpoint.path)
            if waiting := self._meanwhile.get(endpoint.path):
                await waiting.popleft()()
            self.commands.append(call.body)
            return await handler(call)

        return route(endpoint, observed)

    async def _verification(self, call: Call[Empty]) -> Verification:
        stored = self.webhooks.get((call.path["project"], call.path["provider"]))
        known = self.projects.get(call.path["project"])
        return Verification(
            project_id=known.project_id if known else None,
            version=stored.version if stored else None,
            enabled=stored.enabled if stored else False,
            config=stored.config if stored else WebhookConfig(),
            secret=stored.secret if stored else None,
        )

    async def _accept_delivery(self, call: Call[AcceptDelivery]) -> DeliveryAnswer:
        stored = self.webhooks.get((call.path["project"], call.body.canonical.provider))
        if stored is None or not stored.enabled or stored.version != call.body.webhook_version:
            raise StaleVerification
        self.accepted.append(call.body)
        started = call.body.run_id if self.outcome is Outcome.ACCEPTED else None
        return DeliveryAnswer(outcome=self.outcome, duplicate=self.duplicate, run_id=started, first_seen_at=NOW)

    async def _count_refusals(self, call: Call[CountRefusals]) -> Empty:
        self.refused.append((call.path["project"], call.body))
        return Empty()

    async def _list_deliveries(self, call: Call[DeliveryQuery]) -> Page[Delivery]:
        return Page(items=tuple(recorded(each.canonical, call.body.outcome) for each in self.accepted))

    async def _list_projects(self, call: Call[internal.ProjectsQuery]) -> Page[Project]:
        asked = None if call.body.slugs is None else call.body.slugs.split(",")
        return Page(items=tuple(each for slug, each in self.projects.items() if asked is None or slug in asked))

    async def _create_project(self, call: Call[internal.CreateProject]) -> Project:
        if call.body.slug in self.projects:
            raise SlugTaken
        created = project(call.body.slug, project_id=call.body.project_id)
        self.projects[created.slug] = created
        return created

    async def _get_project(self, call: Call[Empty]) -> Project:
        return self._found(self.projects.get(call.path["project"]))

    async def _patch_project(self, call: Call[internal.PatchProject]) -> Project:
        return self._found(self.projects.get(call.path["project"]))

    async def _accept_run(self, call: Call[AcceptRun]) -> RunAccepted:
        return RunAccepted(run_id=call.body.run_id)

    async def _get_run(self, call: Call[Empty]) -> RunView:
        return self._found(self.runs.get(call.path["run"]))

    async def _get_log(self, call: Call[internal.LogQuery]) -> LogPart:
        return LogPart(text="hello\n<b>\n", cursor=call.body.after + 10, complete=True)

    async def _cancel_run(self, call: Call[CancelRun]) -> RunView:
        return self._found(self.runs.get(call.path["run"]))

    async def _list_webhooks(self, call: Call[Empty]) -> Page[Webhook]:
        shown = [
            stored.shown(Provider(provider))
            for (slug, provider), stored in self.webhooks.items()
            if slug == call.path["project"]
        ]
        return Page(items=tuple(shown))

    async def _create_webhook(self, call: Call[CreateWebhook]) -> Webhook:
        created = StoredWebhook(call.body.version, call.body.enabled, call.body.secret, call.body.config)
        self.webhooks[call.path["project"], call.path["provider"]] = created
        return created.shown(Provider(call.path["provider"]))

    async def _update_webhook(self, call: Call[UpdateWebhook]) -> Webhook:
        stored = self._webhook(call.path["project"], call.path["provider"])
        stored.version = call.body.version
        stored.enabled = stored.enabled if call.body.enabled is None else call.body.enabled
        stored.config = stored.config if call.body.config is None else call.body.config
        return stored.shown(Provider(call.path["provider"]))

    async def _replace_secret(self, call: Call[ReplaceSecret]) -> Webhook:
        stored = self._webhook(call.path["project"], call.path["provider"])
        if stored.version != call.body.if_version:
            raise WebhookChanged
        stored.version, stored.secret = call.body.version, call.body.secret
        return stored.shown(Provider(call.path["provider"]))

    async def _delete_webhook(self, call: Call[Actor]) -> Empty:
        del self.webhooks[call.path["project"], call.path["provider"]]
        return Empty()

    def _webhook(self, slug: str, provider: str) -> StoredWebhook:
        return self._found(self.webhooks.get((slug, provider)))

    def _found(self, value: "Found | None") -> "Found":
        if value is None:
            raise NotFound
        return value


Found = TypeVar("Found")


def _raises(error: AnvilError) -> Callable[[], Awaitable[None]]:
    async def happens() -> None:
        raise error

    return happens


async def _ready() -> None:
    return
