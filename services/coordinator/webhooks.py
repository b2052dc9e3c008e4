"""A project's webhooks, and what ingress needs to verify with them. Nothing here can open a secret (C13)."""

from collections.abc import Callable

from services.coordinator import views
from services.coordinator.actors import Actors, Decision, View
from services.coordinator.deliveries import Deliveries
from services.coordinator.directory import Directory
from services.coordinator.records.project import Project
from services.coordinator.refusals import Refusals
from services.coordinator.rules import webhooks
from services.kernel.errors import NotFound
from services.kernel.ids import ProjectId
from services.kernel.ports import Clock
from services.kernel.wire import webhooks as wire
from services.kernel.wire.model import Page

_NEWEST = 10
_UNKNOWN = wire.Verification(project_id=None, version=None, enabled=False, config=wire.WebhookConfig(), secret=None)


class Webhooks:
    def __init__(
        self, actors: Actors, directory: Directory, deliveries: Deliveries, refusals: Refusals, *, clock: Clock
    ) -> None:
        self._actors = actors
        self._directory = directory
        self._deliveries = deliveries
        self._refusals = refusals
        self._clock = clock

    async def verification(self, slug: str, provider: str) -> wire.Verification:
        """The sealed secret as it is stored now; for an unknown project or webhook, nothing (R81)."""
        try:
            project = await self._directory.at(slug, self._actors.read)
            webhook = webhooks.existing(project, provider)
        except NotFound:
            return _UNKNOWN
        secret = wire.SealedSecret(
            secret_id=webhook.secret.secret_id,
            key_version=webhook.secret.key_version,
            nonce=webhook.secret.nonce,
            ciphertext=webhook.secret.ciphertext,
        )
        return wire.Verification(
            project_id=project.project_id,
            version=webhook.version,
            enabled=webhook.enabled,
            config=wire.WebhookConfig.model_validate(webhook.config),
            secret=secret,
        )

    async def page(self, slug: str) -> Page[wire.Webhook]:
        """
        Raises:
            NotFound: there is no such project.
        """
        project = await self._directory.at(slug, self._actors.read)
        refused = await self._refusals.of(project)
        shown = [
            views.webhook(
                provider,
                webhook,
                newest=await self._deliveries.newest(project.project_id, provider, limit=_NEWEST),
                refused=refused[provider],
            )
            for provider, webhook in sorted(project.webhooks.items())
        ]
        return Page(items=tuple(shown))

    async def create(self, slug: str, provider: str, command: wire.CreateWebhook) -> wire.Webhook:
        """
        Raises:
            NotFound: there is no such project.
            WebhookChanged: it has this webhook already.
        """
        return await self._change(
            slug, provider, lambda project: webhooks.create(project, provider, command, now=self._clock.now())
        )

    async def update(self, slug: str, provider: str, command: wire.UpdateWebhook) -> wire.Webhook:
        """
        Raises:
            NotFound: there is no such project or webhook.
        """
        return await self._change(slug, provider, lambda project: webhooks.update(project, provider, command))

    async def replace_secret(self, slug: str, provider: str, command: wire.ReplaceSecret) -> wire.Webhook:
        """
        Raises:
            NotFound: there is no such project or webhook.
            WebhookChanged: the webhook is not at the version that the command names.
        """
        return await self._change(
            slug, provider, lambda project: webhooks.replace_secret(project, provider, command, now=self._clock.now())
        )

    async def delete(self, slug: str, provider: str) -> None:
        """Forget the webhook and its secret; its deliveries keep their rows, so a replay stays a replay (C12).

        Raises:
            NotFound: there is no such project or webhook.
        """

        def rule(view: View) -> Decision[None]:
            project = view.project.value
            there = provider in project.webhooks
            return Decision(answer=None, project=project.without_webhook(provider) if there else None)

        async def at(project_id: ProjectId) -> None:
            webhooks.existing(await self._actors.read(project_id), provider)
            # If it is gone from here on it is deleted, by this very command if the answer to a first try was lost.
            await self._actors.decide(project_id, rule)

        await self._directory.at(slug, at)

    async def _change(self, slug: str, provider: str, rule: Callable[[Project], Project]) -> wire.Webhook:
        def decide(view: View) -> Decision[Project]:
            before = view.project.value
            after = rule(before)
            return Decision(answer=after, project=None if after is before else after)

        async def at(project_id: ProjectId) -> Project:
            return await self._actors.decide(project_id, decide)

        project = await self._directory.at(slug, at)
        return views.webhook(provider, webhooks.existing(project, provider))
