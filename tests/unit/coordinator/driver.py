"""What callers ask of the coordinator, in one line each. Runs are named by their number."""

import hashlib
from datetime import timedelta
from functools import cached_property
from typing import Literal

from services.kernel.client import Client
from services.kernel.runs import Directive, Reason, Status, Verdict
from services.kernel.wire import internal
from services.kernel.wire.audit import Actor
from services.kernel.wire.deliveries import AcceptDelivery, Canonical, DeliveryAnswer, Provider
from services.kernel.wire.internal import CreateProject
from services.kernel.wire.projects import Project, Queue
from services.kernel.wire.runs import (
    AcceptRun,
    AppendLog,
    CancelRun,
    Claim,
    ClaimAnswer,
    Complete,
    Heartbeat,
    LogChunk,
    ReconcileTask,
    Report,
    Run,
    RunView,
    Start,
    StepStatus,
    Swept,
)
from services.kernel.wire.webhooks import (
    CreateWebhook,
    ReplaceSecret,
    SealedSecret,
    UpdateWebhook,
    Verification,
    Webhook,
    WebhookConfig,
)
from tests.unit.coordinator import callers
from tests.unit.coordinator.builders import REPOSITORY, SHA, canonical, run_id
from tests.unit.coordinator.instance import Instance

ADA = "ada@example.com"
SEALED = "c2VhbGVkLWNpcGhlcnRleHQ="

Ending = Literal[Status.PASSED, Status.FAILED, Status.CANCELED]


def project_id(number: int) -> str:
    return f"prj_{number:022}"


def token(number: int, *, attempt: int = 1) -> str:
    """The token of one attempt at a run."""
    return f"attempt-{attempt:04}-at-run-{number:04}"


def secret(name: str = "s1") -> SealedSecret:
    return SealedSecret(secret_id=name, key_version="1", nonce="bm9uY2U=", ciphertext=SEALED)


def chunk(seq: int, text: str, *, offset: int, first_line: int = 1) -> LogChunk:
    digest = hashlib.sha256(text.encode()).hexdigest()
    return LogChunk(seq=seq, first_line=first_line, offset=offset, text=text, sha256=digest)


class Driver:
    """Asks one instance as whoever may ask it."""

    def __init__(self, instance: Instance) -> None:
        self.instance = instance

    @cached_property
    def hooks(self) -> Client:
        return self.instance.client(callers.HOOKS)

    @cached_property
    def console(self) -> Client:
        return self.instance.client(callers.CONSOLE)

    @cached_property
    def runner(self) -> Client:
        return self.instance.client(callers.RUNNER)

    @cached_property
    def tasks(self) -> Client:
        return self.instance.client(callers.TASKS)

    @cached_property
    def scheduler(self) -> Client:
        return self.instance.client(callers.SCHEDULER)

    # Console

    async def create_project(self, slug: str = "site", number: int = 1) -> Project:
        asked = CreateProject(
            project_id=project_id(number), slug=slug, name=slug.title(), repository_url=REPOSITORY, actor=ADA
        )
        return await self.console.call(internal.CREATE_PROJECT, body=asked)

    async def patch_project(self, slug: str = "site", *, default_branch: str = "main") -> Project:
        asked = internal.PatchProject(default_branch=default_branch, actor=ADA)
        return await self.console.call(internal.PATCH_PROJECT, path={"project": slug}, body=asked)

    async def delete_project(self, slug: str = "site") -> None:
        await self.console.call(internal.DELETE_PROJECT, path={"project": slug}, body=Actor(actor=ADA))

    async def create_webhook(
        self, slug: str = "site", provider: str = "github", *, version: str = "v1", name: str = "s1"
    ) -> Webhook:
        asked = CreateWebhook(version=version, enabled=True, config=WebhookConfig(), secret=secret(name), actor=ADA)
        path = {"project": slug, "provider": provider}
        return await self.console.call(internal.CREATE_WEBHOOK, path=path, body=asked)

    async def switch_webhook(self, version: str, *, enabled: bool, slug: str = "site") -> Webhook:
        asked = UpdateWebhook(version=version, enabled=enabled, actor=ADA)
        path = {"project": slug, "provider": "github"}
        return await self.console.call(internal.UPDATE_WEBHOOK, path=path, body=asked)

    async def rotate(self, version: str, *, if_version: str = "v1", name: str = "s2", slug: str = "site") -> Webhook:
        asked = ReplaceSecret(version=version, if_version=if_version, secret=secret(name), actor=ADA)
        path = {"project": slug, "provider": "github"}
        return await self.console.call(internal.REPLACE_SECRET, path=path, body=asked)

    async def delete_webhook(self, slug: str = "site") -> None:
        path = {"project": slug, "provider": "github"}
        await self.console.call(internal.DELETE_WEBHOOK, path=path, body=Actor(actor=ADA))

    async def ask_for_run(
        self,
        number: int,
        slug: str = "site",
        *,
        branch: str | None = None,
        source: int | None = None,
        key: str | None = None,
    ) -> str:
        """Ask for a manual run, or with `source` a rerun; the id of the run that it became."""
        asked = AcceptRun(
            run_id=run_id(number),
            branch=branch,
            source=None if source is None else run_id(source),
            idempotency_key=key,
            actor=ADA,
        )
        return (await self.console.call(internal.ACCEPT_RUN, path={"project": slug}, body=asked)).run_id

    async def cancel(self, number: int) -> RunView:
        return await self.console.call(internal.CANCEL_RUN, path={"run": run_id(number)}, body=CancelRun(actor=ADA))

    async def show(self, number: int) -> RunView:
        return await self.console.call(internal.GET_RUN, path={"run": run_id(number)})

    async def queue(self, slug: str = "site") -> Queue:
        return await self.console.call(internal.GET_QUEUE, path={"project": slug})

    async def listed(self, slug: str = "site") -> tuple[Run, ...]:
        return (await self.console.call(internal.LIST_RUNS, path={"project": slug})).items

    # Hooks

    async def push(
        self, number: int, delivery_id: str | None = None, *, slug: str = "site", version: str = "v1"
    ) -> DeliveryAnswer:
        """Deliver a push under its own delivery id, or again under another's; its run is to be run `number`."""
        return await self.deliver(canonical(delivery_id or f"d-{number}"), number, slug=slug, version=version)

    async def deliver(
        self, delivered: Canonical, number: int, *, slug: str = "site", version: str = "v1"
    ) -> DeliveryAnswer:
        asked = AcceptDelivery(canonical=delivered, webhook_version=version, run_id=run_id(number))
        return await self.hooks.call(internal.ACCEPT_DELIVERY, path={"project": slug}, body=asked)

    async def verification(self, slug: str = "site", provider: Provider = Provider.GITHUB) -> Verification:
        return await self.hooks.call(internal.VERIFICATION, path={"project": slug, "provider": provider})

    # Runner

    async def claim(self, number: int, *, attempt: int = 1) -> ClaimAnswer:
        asked = Claim(attempt=token(number, attempt=attempt))
        return await self.runner.call(internal.CLAIM, path={"run": run_id(number)}, body=asked)

    async def start(self, number: int, *, attempt: int = 1, sha: str = SHA) -> Directive:
        asked = Start(attempt=token(number, attempt=attempt), commit_sha=sha)
        return (await self.runner.call(internal.START, path={"run": run_id(number)}, body=asked)).directive

    async def beat(self, number: int, *, attempt: int = 1, steps: tuple[StepStatus, ...] | None = None) -> Directive:
        asked = Heartbeat(attempt=token(number, attempt=attempt), steps=steps)
        return (await self.runner.call(internal.HEARTBEAT, path={"run": run_id(number)}, body=asked)).directive

    async def append(self, number: int, *chunks: LogChunk, attempt: int = 1) -> None:
        asked = AppendLog(attempt=token(number, attempt=attempt), chunks=chunks)
        await self.runner.call(internal.APPEND_LOG, path={"run": run_id(number)}, body=asked)

    async def report(
        self, number: int, status: Ending = Status.PASSED, *, attempt: int = 1, reason: Reason | None = None
    ) -> None:
        exit_code = {Status.PASSED: 0, Status.FAILED: 2, Status.CANCELED: None}[status]
        asked = Report(attempt=token(number, attempt=attempt), status=status, reason=reason, exit_code=exit_code)
        await self.runner.call(internal.REPORT, path={"run": run_id(number)}, body=asked)

    async def complete(self, number: int, *, attempt: int = 1, teardown_complete: bool = True) -> None:
        asked = Complete(attempt=token(number, attempt=attempt), teardown_complete=teardown_complete)
        await self.runner.call(internal.COMPLETE, path={"run": run_id(number)}, body=asked)

    async def begin(self, number: int) -> None:
        """Claim and start: the run's commands may begin."""
        assert (await self.claim(number)).verdict is Verdict.EXECUTE
        assert await self.start(number) is Directive.CONTINUE

    async def finish(self, number: int, status: Ending = Status.PASSED) -> None:
        """Report and complete: the run has ended."""
        await self.report(number, status)
        await self.complete(number)

    # Timers

    async def look(self, number: int) -> None:
        await self.tasks.call(internal.RECONCILE, body=ReconcileTask(run=run_id(number)))

    async def sweep(self, *, later: timedelta = timedelta()) -> Swept:
        """Sweep, when that much time has passed."""
        self.instance.clock.move(later)
        return await self.scheduler.call(internal.SWEEP)
