"""What ingress, people, runners, tasks and the scheduler ask of one instance: one wire call each, runs by their id."""

import hashlib
from typing import Literal

from services.kernel.client import Client
from services.kernel.runs import Directive, Reason, Status, Verdict
from services.kernel.wire import internal
from services.kernel.wire.audit import Actor
from services.kernel.wire.deliveries import AcceptDelivery, Canonical, DeliveryAnswer
from services.kernel.wire.internal import CreateProject
from services.kernel.wire.runs import (
    AcceptRun,
    AppendLog,
    CancelRun,
    Claim,
    Complete,
    Heartbeat,
    LogChunk,
    ReconcileTask,
    Report,
    Start,
)
from services.kernel.wire.webhooks import (
    CreateWebhook,
    ReplaceSecret,
    UpdateWebhook,
    Verification,
    WebhookConfig,
)
from tests.simulation.custody import sealed
from tests.simulation.node import Node
from tests.unit.coordinator import callers
from tests.unit.coordinator.builders import REPOSITORY

ADA = "ada@example.com"

Ending = Literal[Status.PASSED, Status.FAILED, Status.CANCELED]


def chunk(text: str, *, seq: int = 0, first_line: int = 1, offset: int = 0) -> LogChunk:
    digest = hashlib.sha256(text.encode()).hexdigest()
    return LogChunk(seq=seq, first_line=first_line, offset=offset, text=text, sha256=digest)


class Calls:
    def __init__(self, node: Node) -> None:
        self._node = node

    @property
    def node(self) -> Node:
        """Who is asked."""
        return self._node

    def _as(self, email: str) -> Client:
        return self._node.client(email)

    # Console

    async def create_project(self, slug: str, project_id: str) -> None:
        asked = CreateProject(project_id=project_id, slug=slug, name=slug, repository_url=REPOSITORY, actor=ADA)
        await self._as(callers.CONSOLE).call(internal.CREATE_PROJECT, body=asked)

    async def create_webhook(self, slug: str, version: str) -> None:
        asked = CreateWebhook(
            version=version, enabled=True, config=WebhookConfig(), secret=sealed(slug, version), actor=ADA
        )
        await self._as(callers.CONSOLE).call(internal.CREATE_WEBHOOK, path=_github(slug), body=asked)

    async def switch_webhook(self, slug: str, version: str, *, enabled: bool) -> None:
        asked = UpdateWebhook(version=version, enabled=enabled, actor=ADA)
        await self._as(callers.CONSOLE).call(internal.UPDATE_WEBHOOK, path=_github(slug), body=asked)

    async def rotate(self, slug: str, version: str, *, if_version: str) -> None:
        asked = ReplaceSecret(version=version, if_version=if_version, secret=sealed(slug, version), actor=ADA)
        await self._as(callers.CONSOLE).call(internal.REPLACE_SECRET, path=_github(slug), body=asked)

    async def delete_webhook(self, slug: str) -> None:
        await self._as(callers.CONSOLE).call(internal.DELETE_WEBHOOK, path=_github(slug), body=Actor(actor=ADA))

    async def ask_for_run(self, slug: str, run_id: str, *, source: str | None = None, key: str | None = None) -> str:
        asked = AcceptRun(run_id=run_id, source=source, idempotency_key=key, actor=ADA)
        console = self._as(callers.CONSOLE)
        return (await console.call(internal.ACCEPT_RUN, path={"project": slug}, body=asked)).run_id

    async def cancel(self, run_id: str) -> Status:
        console = self._as(callers.CONSOLE)
        return (await console.call(internal.CANCEL_RUN, path={"run": run_id}, body=CancelRun(actor=ADA))).run.status

    # Hooks

    async def verification(self, slug: str) -> Verification:
        return await self._as(callers.HOOKS).call(internal.VERIFICATION, path=_github(slug))

    async def deliver(self, slug: str, delivered: Canonical, *, version: str, run_id: str) -> DeliveryAnswer:
        asked = AcceptDelivery(canonical=delivered, webhook_version=version, run_id=run_id)
        return await self._as(callers.HOOKS).call(internal.ACCEPT_DELIVERY, path={"project": slug}, body=asked)

    # Runner

    async def claim(self, run_id: str, token: str) -> Verdict:
        runner = self._as(callers.RUNNER)
        return (await runner.call(internal.CLAIM, path={"run": run_id}, body=Claim(attempt=token))).verdict

    async def start(self, run_id: str, token: str, *, sha: str) -> Directive:
        asked = Start(attempt=token, commit_sha=sha)
        return (await self._as(callers.RUNNER).call(internal.START, path={"run": run_id}, body=asked)).directive

    async def beat(self, run_id: str, token: str) -> Directive:
        asked = Heartbeat(attempt=token)
        return (await self._as(callers.RUNNER).call(internal.HEARTBEAT, path={"run": run_id}, body=asked)).directive

    async def append(self, run_id: str, token: str, *chunks: LogChunk) -> None:
        asked = AppendLog(attempt=token, chunks=chunks)
        await self._as(callers.RUNNER).call(internal.APPEND_LOG, path={"run": run_id}, body=asked)

    async def report(self, run_id: str, token: str, ending: Ending) -> None:
        exit_code = {Status.PASSED: 0, Status.FAILED: 2, Status.CANCELED: None}[ending]
        reason = Reason.STEP_FAILED if ending is Status.FAILED else None
        asked = Report(attempt=token, status=ending, reason=reason, exit_code=exit_code)
        await self._as(callers.RUNNER).call(internal.REPORT, path={"run": run_id}, body=asked)

    async def complete(self, run_id: str, token: str, *, torn_down: bool) -> None:
        asked = Complete(attempt=token, teardown_complete=torn_down)
        await self._as(callers.RUNNER).call(internal.COMPLETE, path={"run": run_id}, body=asked)

    # Timers

    async def look(self, run_id: str) -> None:
        await self._as(callers.TASKS).call(internal.RECONCILE, body=ReconcileTask(run=run_id))

    async def sweep(self) -> None:
        await self._as(callers.SCHEDULER).call(internal.SWEEP)


def _github(slug: str) -> dict[str, str]:
    return {"project": slug, "provider": "github"}
