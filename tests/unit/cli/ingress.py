"""An ingress on loopback with its state in memory: the same declarations, served by the same web kernel."""

import asyncio
import socket
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import TypeAlias, TypeVar

import uvicorn
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPrivateKey, RSAPublicKey
from starlette.requests import Request
from starlette.responses import Response

from services.kernel.adapters.clock import SystemClock, SystemIds
from services.kernel.endpoint import Audience, Endpoint
from services.kernel.errors import AnvilError, Forbidden, NotFound
from services.kernel.identity import Verifier
from services.kernel.runs import Kind, Status, Trigger
from services.kernel.web import Answer, Call, Caller, Guard, Served, application, raw, route
from services.kernel.wire import api
from services.kernel.wire.deliveries import Delivery, DeliveryQuery, EventKind, Outcome, Provider
from services.kernel.wire.model import Empty, Page, PageQuery, Wire
from services.kernel.wire.projects import NewProject, Project, ProjectPatch, Queue, QueuedRun
from services.kernel.wire.runs import Run, RunView, Started, StartRun, StepStatus
from services.kernel.wire.webhooks import (
    PutWebhook,
    RotateSecret,
    SecretOnce,
    Webhook,
    WebhookCheck,
    WebhookConfig,
    WebhookPut,
    WebhookTest,
)

RUN = "run_0123456789abcdefghijkl"
DELIVERY = "dlv_0123456789abcdefghijkl"
SHA = "5e3c1d0ad0d3b0bba2a0a4d6f1a2a3b4c5d6e7f8"
MOMENT = datetime(2026, 11, 30, 9, 30, 0, tzinfo=UTC)


Req = TypeVar("Req", bound=Wire)
Res = TypeVar("Res", bound=Wire)
Handler: TypeAlias = Callable[[Call[Req]], Awaitable[Res]]


def run_view(status: Status, *, place: int | None = None, detail: str | None = None) -> RunView:
    run = Run(
        run_id=RUN,
        project="hello",
        kind=Kind.ACTION,
        trigger=Trigger.WEBHOOK,
        actor=None,
        status=status,
        position=4 if status is Status.QUEUED else None,
        branch="main",
        commit_sha=SHA,
        before_sha=None,
        reason=None,
        queued_at=MOMENT,
        started_at=None,
        finished_at=None,
        exit_code=None,
    )
    steps = (StepStatus(name="test", status="pending"),)
    return RunView(run=run, steps=steps, reason=None, detail=detail, place=place, log_tail=("the end",), links={})


def a_project(new: NewProject) -> Project:
    return Project(
        slug=new.slug,
        project_id="prj_0123456789abcdefghijkl",
        name=new.name,
        repository_url=new.repository_url,
        default_branch=new.default_branch,
        config_path=new.config_path,
        created_at=MOMENT,
        active_run_id=None,
        queued=0,
    )


def a_webhook(provider: Provider, *, enabled: bool = True) -> Webhook:
    return Webhook(provider=provider, enabled=enabled, version="v1", config=WebhookConfig(), rotated_at=MOMENT)


def a_delivery() -> Delivery:
    return Delivery(
        id=DELIVERY,
        delivery_id="7b6d",
        provider=Provider.GITHUB,
        flavor="github",
        event_kind=EventKind.PUSH,
        event_name="push",
        outcome=Outcome.ACCEPTED,
        note=None,
        repository_url=None,
        ref="refs/heads/main",
        branch="main",
        commit_sha=SHA,
        before_sha=None,
        run_id=RUN,
        received_at=MOMENT,
        decided_at=MOMENT,
        duplicate_count=0,
        last_duplicate_at=None,
    )


@dataclass(slots=True, kw_only=True)
class Ingress:
    """What it knows, and what it was asked. A run's views are shown one after the other, the last one for good."""

    endpoint: str = ""
    projects: dict[str, Project] = field(default_factory=dict[str, Project])
    webhooks: dict[Provider, Webhook] = field(default_factory=dict[Provider, Webhook])
    views: list[RunView] = field(default_factory=lambda: [run_view(Status.PASSED)])
    log: bytes = b""
    log_part: int = 1000
    finds: WebhookCheck = field(
        default_factory=lambda: WebhookCheck(name="reachable", passed=True, finding="https://ci.example")
    )
    errors: dict[str, AnvilError] = field(default_factory=dict[str, AnvilError])
    """By the endpoint's summary: what it answers instead."""
    asked: list[tuple[str, Wire]] = field(default_factory=list[tuple[str, Wire]])
    callers: list[str] = field(default_factory=list[str])
    keys: list[str] = field(default_factory=list[str])
    projects_asked: list[str] = field(default_factory=list[str])

    def of(self, endpoint: Endpoint[Req, Res]) -> list[Wire]:
        """The requests to one endpoint."""
        return [body for summary, body in self.asked if summary == endpoint.summary]

    def served(self) -> list[Served]:
        return [
            self._route(api.ME, self._me),
            self._route(api.LIST_PROJECTS, self._list_projects),
            self._route(api.CREATE_PROJECT, self._create_project),
            self._route(api.GET_PROJECT, self._get_project),
            self._route(api.PATCH_PROJECT, self._patch_project),
            self._route(api.DELETE_PROJECT, self._delete_project),
            self._route(api.GET_QUEUE, self._queue),
            self._route(api.LIST_RUNS, self._list_runs),
            self._route(api.START_RUN, self._start),
            self._route(api.GET_RUN, self._view),
            self._route(api.CANCEL_RUN, self._view),
            self._route(api.RERUN, self._start),
            raw(api.GET_LOG, self._log),
            self._route(api.LIST_WEBHOOKS, self._list_webhooks),
            self._route(api.PUT_WEBHOOK, self._put_webhook),
            self._route(api.ROTATE_SECRET, self._rotate),
            self._route(api.TEST_WEBHOOK, self._test),
            self._route(api.DELETE_WEBHOOK, self._delete_webhook),
            self._route(api.LIST_DELIVERIES, self._list_deliveries),
            self._route(api.GET_DELIVERY, self._delivery),
        ]

    def _route(self, endpoint: Endpoint[Req, Res], handler: Handler[Req, Res]) -> Served:
        async def recorded(call: Call[Req]) -> Res | Answer[Res]:
            self.asked.append((endpoint.summary, call.body))
            self.callers.append(call.caller.email)
            self.projects_asked += [call.path["project"]] if "project" in call.path else []
            self.keys += call.headers.getlist("Idempotency-Key")
            if (error := self.errors.get(endpoint.summary)) is not None:
                raise error
            return await handler(call)

        return route(endpoint, recorded)

    async def _me(self, call: Call[Empty]) -> api.Me:
        return api.Me(principal=call.caller.email, role=call.caller.email.partition("@")[0])

    async def _list_projects(self, call: Call[PageQuery]) -> Page[Project]:
        """The token is where the next page begins."""
        every = list(self.projects.values())
        first = int(call.body.page_token or 0)
        end = first + call.body.page_size
        return Page[Project](items=tuple(every[first:end]), next_page_token=str(end) if end < len(every) else None)

    async def _create_project(self, call: Call[NewProject]) -> Project:
        self.projects[call.body.slug] = made = a_project(call.body)
        return made

    async def _get_project(self, call: Call[Empty]) -> Project:
        return self._project(call.path["project"])

    async def _patch_project(self, call: Call[ProjectPatch]) -> Project:
        return self._project(call.path["project"]).model_copy(update=call.body.model_dump(exclude_unset=True))

    async def _delete_project(self, call: Call[Empty]) -> Empty:
        del self.projects[call.path["project"]]
        return Empty()

    async def _queue(self, call: Call[Empty]) -> Queue:
        waiting = QueuedRun(run_id=RUN, branch="main", commit_sha=SHA, queued_at=MOMENT, place=1, behind=None)
        return Queue(active_run=run_view(Status.RUNNING).run, queued=(waiting,), used=1, capacity=20)

    async def _list_runs(self, call: Call[PageQuery]) -> Page[Run]:
        return Page[Run](items=(self.views[0].run,))

    async def _start(self, call: Call[StartRun] | Call[Empty]) -> Started:
        return Started(run_id=RUN, url=f"{self.endpoint}/runs/{RUN}")

    async def _view(self, call: Call[Empty]) -> RunView:
        if call.path["run"] != RUN:
            raise NotFound(f"there is no run {call.path['run']}")
        return self.views.pop(0) if len(self.views) > 1 else self.views[0]

    async def _log(self, request: Request, caller: Caller) -> Response:
        after = int(request.query_params["after"])
        part = self.log[after : after + self.log_part]
        ended = self.views[0].run.status.terminal and after + len(part) == len(self.log)
        headers = {"X-Log-Cursor": str(after + len(part)), "X-Log-Complete": str(ended).lower()}
        return Response(part, media_type="text/plain", headers=headers)

    async def _list_webhooks(self, call: Call[Empty]) -> Page[Webhook]:
        return Page[Webhook](items=tuple(self.webhooks.values()))

    async def _put_webhook(self, call: Call[PutWebhook]) -> WebhookPut:
        provider = Provider(call.path["provider"])
        creating, enabled = provider not in self.webhooks, call.body.enabled is True
        made = a_webhook(provider, enabled=enabled).model_copy(update={"config": call.body.config or WebhookConfig()})
        self.webhooks[provider] = made
        generated = "generated-secret-0001" if creating and call.body.secret is None else None
        return WebhookPut(webhook=made, generated_secret=generated)

    async def _rotate(self, call: Call[RotateSecret]) -> SecretOnce:
        return SecretOnce(secret="rotated-secret-00002")

    async def _test(self, call: Call[Empty]) -> WebhookTest:
        return WebhookTest(passed=self.finds.passed, checks=(self.finds,))

    async def _delete_webhook(self, call: Call[Empty]) -> Empty:
        del self.webhooks[Provider(call.path["provider"])]
        return Empty()

    async def _list_deliveries(self, call: Call[DeliveryQuery]) -> Page[Delivery]:
        return Page[Delivery](items=(a_delivery(),))

    async def _delivery(self, call: Call[Empty]) -> Delivery:
        return a_delivery()

    def _project(self, slug: str) -> Project:
        if slug not in self.projects:
            raise NotFound(f"there is no project {slug}")
        return self.projects[slug]


class OneKey:
    """An issuer of one key."""

    def __init__(self, key_file: Path) -> None:
        key = serialization.load_pem_private_key(key_file.read_bytes(), password=None)
        assert isinstance(key, RSAPrivateKey)
        self._key = key.public_key()

    async def key(self, kid: str) -> RSAPublicKey:
        return self._key


def guard(verifier: Verifier) -> Guard:
    """Lets in whoever the issuer knows; `viewer@` may only look."""

    async def check(request: Request, endpoint: Endpoint[Wire, Wire]) -> Caller:
        claims = await verifier.identify(request.headers)
        if claims.email.startswith("viewer@") and endpoint.audience is not Audience.VIEWER:
            raise Forbidden(f"{claims.email} may only look")
        return Caller(email=claims.email)

    return check


@asynccontextmanager
async def serving(key_file: Path) -> AsyncGenerator[Ingress]:
    """An ingress that trusts the tokens signed with `key_file`."""
    ingress = Ingress()
    clock = SystemClock()
    verifier = Verifier(
        OneKey(key_file),
        audiences=frozenset({"anvil-ingress"}),
        issuers=frozenset({"https://anvil.local"}),
        clock=clock,
    )

    async def ready() -> None:
        return None

    app = application(
        service="ingress", served=ingress.served(), guard=guard(verifier), ready=ready, clock=clock, ids=SystemIds()
    )
    listener = socket.create_server(("127.0.0.1", 0))
    ingress.endpoint = f"http://127.0.0.1:{listener.getsockname()[1]}"
    server = uvicorn.Server(uvicorn.Config(app, log_config=None, lifespan="off"))
    serve = asyncio.create_task(server.serve(sockets=[listener]))
    try:
        yield ingress
    finally:
        server.should_exit = True
        await serve
