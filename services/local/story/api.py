"""What a person and a Git host can do to a running Anvil: its public HTTP surface, and nothing else."""

import asyncio
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from datetime import timedelta
from typing import Self

import httpx2

from services.kernel.adapters.clock import SystemClock
from services.kernel.adapters.local_minter import LocalMinter
from services.kernel.client import Client
from services.kernel.ports import Minter
from services.kernel.wire import api
from services.kernel.wire.deliveries import Delivery, DeliveryQuery, Outcome
from services.kernel.wire.model import Empty, PageQuery
from services.kernel.wire.projects import NewProject, Project, Queue
from services.kernel.wire.runs import Run, RunView, StartRun
from services.kernel.wire.webhooks import PutWebhook, RotateSecret, Webhook, WebhookPut
from services.local import identities
from services.local.stack import Stack
from services.local.story.push import Push

PROVIDER = "github"
LOOK_AGAIN = timedelta(milliseconds=100)
ANSWER_WITHIN = timedelta(seconds=10)


class TookTooLong(Exception):
    """What was waited for did not come."""


class Api:
    """One person's view of a stack, and a Git host's: `deliver`."""

    def __init__(self, http: httpx2.AsyncClient, *, endpoint: str, minter: Minter) -> None:
        self._http = http
        self._endpoint = endpoint
        self._minter = minter
        self._client = Client(
            http,
            base_url=endpoint,
            audience=identities.INGRESS_AUDIENCE,
            minter=minter,
            clock=SystemClock(),
        )

    @classmethod
    @asynccontextmanager
    async def of(
        cls, stack: Stack, *, email: str = identities.ADMIN, endpoint: str | None = None
    ) -> AsyncGenerator[Self]:
        """What `email` can do; at one instance of ingress, if `endpoint` is its URL."""
        minter = LocalMinter(stack.state.issuer_key, email=email, issuer=identities.ISSUER, clock=SystemClock())
        async with httpx2.AsyncClient(timeout=ANSWER_WITHIN.total_seconds(), trust_env=False) as http:
            yield cls(http, endpoint=endpoint or stack.endpoint, minter=minter)

    async def create_project(self, slug: str, *, repository_url: str) -> Project:
        asked = NewProject(slug=slug, name=slug, repository_url=repository_url)
        return await self._client.call(api.CREATE_PROJECT, body=asked)

    async def put_webhook(self, project: str, *, enabled: bool) -> WebhookPut:
        return await self._client.call(api.PUT_WEBHOOK, path=_webhook(project), body=PutWebhook(enabled=enabled))

    async def webhook_secret(self, project: str) -> str:
        """Create the webhook; the secret that was made for it."""
        secret = (await self.put_webhook(project, enabled=True)).generated_secret
        if secret is None:
            raise LookupError(f"the webhook of {project} was there before")
        return secret

    async def rotate_secret(self, project: str) -> str:
        """The new secret; the old one fails from now on."""
        asked = RotateSecret(confirm=True, version=(await self.webhooks(project))[0].version)
        return (await self._client.call(api.ROTATE_SECRET, path=_webhook(project), body=asked)).secret

    async def delete_webhook(self, project: str) -> None:
        await self._client.call(api.DELETE_WEBHOOK, path=_webhook(project), body=Empty())

    async def webhooks(self, project: str) -> tuple[Webhook, ...]:
        return (await self._client.call(api.LIST_WEBHOOKS, path={"project": project}, body=Empty())).items

    async def deliver(self, project: str, push: Push, *, secret: str) -> httpx2.Response:
        """Tell of a push, as its Git host does."""
        url = f"{self._endpoint}/api/public/hooks/{PROVIDER}/{project}"
        return await self._http.post(url, content=push.body, headers=push.headers(secret=secret))

    async def start_run(self, project: str, *, branch: str | None = None, key: str | None = None) -> str:
        """The run; asking again under the same idempotency key gives the same one."""
        asked = StartRun() if branch is None else StartRun(branch=branch)
        headers = None if key is None else {"Idempotency-Key": key}
        return (await self._client.call(api.START_RUN, path={"project": project}, body=asked, headers=headers)).run_id

    async def cancel(self, run: str) -> RunView:
        return await self._client.call(api.CANCEL_RUN, path={"run": run}, body=Empty())

    async def run(self, run: str) -> RunView:
        return await self._client.call(api.GET_RUN, path={"run": run}, body=Empty())

    async def runs(self, project: str) -> tuple[Run, ...]:
        """The newest hundred."""
        asked = PageQuery(page_size=100)
        return (await self._client.call(api.LIST_RUNS, path={"project": project}, body=asked)).items

    async def deliveries(self, project: str, *, outcome: Outcome | None = None) -> tuple[Delivery, ...]:
        """The newest hundred, or of those with this outcome."""
        asked = DeliveryQuery(page_size=100, outcome=outcome)
        return (await self._client.call(api.LIST_DELIVERIES, path={"project": project}, body=asked)).items

    async def queue(self, project: str) -> Queue:
        return await self._client.call(api.GET_QUEUE, path={"project": project}, body=Empty())

    async def log(self, run: str, *, after: int = 0) -> tuple[str, int]:
        """The run's log from byte `after`, and where it goes on."""
        token = await self._minter.mint(identities.INGRESS_AUDIENCE)
        answer = await self._http.get(
            f"{self._endpoint}{api.GET_LOG.path.format(run=run)}",
            params={"after": after},
            headers={"Authorization": f"Bearer {token.value}"},
        )
        answer.raise_for_status()
        return answer.text, int(answer.headers["X-Log-Cursor"])

    async def until(self, run: str, seen: Callable[[RunView], bool], *, within: timedelta) -> RunView:
        """The run, as soon as it is as `seen` wants it.

        Raises:
            TookTooLong: it did not come to that.
        """
        view = await self.run(run)
        try:
            async with asyncio.timeout(within.total_seconds()):
                while not seen(view):
                    await asyncio.sleep(LOOK_AGAIN.total_seconds())
                    view = await self.run(run)
        except TimeoutError as error:
            raise TookTooLong(f"{run} is {view.run.status} after {within.total_seconds():.0f} s") from error
        return view

    async def finished(self, run: str, *, within: timedelta) -> RunView:
        """The run once it has ended."""
        return await self.until(run, lambda view: view.run.status.terminal, within=within)


def _webhook(project: str) -> dict[str, str]:
    return {"project": project, "provider": PROVIDER}
