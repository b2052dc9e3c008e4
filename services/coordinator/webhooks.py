"""A project's webhooks, and what ingress needs to verify with them. Nothing here can open a secret (C13)."""

from collections.abc import Callable

from services.coordinator import views
from services.coordinator.actors import Actors, Decision, View
from services.coordinator.audit import Audit
from services.coordinator.deliveries import Deliveries
from services.coordinator.directory import Directory
from services.coordinator.records.project import Project
from services.coordinator.refusals import Refusals
from services.coordinator.rules import webhooks
from services.kernel.errors import Ambiguous, NotFound
from services.kernel.ids import ProjectId
from services.kernel.ports import Clock, Write
from services.kernel.wire import webhooks as wire
from services.kernel.wire.audit import Act
from services.kernel.wire.model import Page

_NEWEST = 10
_UNKNOWN = wire.Verification(project_id=None, version=None, enabled=False, config=wire.WebhookConfig(), secret=None)


class Webhooks:
    def __init__(
        self,
        actors: Actors,
        directory: Directory,
        deliveries: Deliveries,
        refusals: Refusals,
        audit: Audit,
        *,
        clock: Clock,
    ) -> None:
        self._actors = actors
        self._directory = directory
        self._deliveries = deliveries
        self._refusals = refusals
        self._audit = audit
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
            slug,
            provider,
            lambda project: webhooks.create(project, provider, command, now=self._clock.now()),
            entry=lambda: self._entry(command.actor, Act.WEBHOOK_CREATE, slug, provider),
        )

    async def update(self, slug: str, provider: str, command: wire.UpdateWebhook) -> wire.Webhook:
        """
        Raises:
            NotFound: there is no such project or webhook.
        """
        return await self._change(
            slug,
            provider,
            lambda project: webhooks.update(project, provider, command),
            entry=lambda: self._entry(command.actor, Act.WEBHOOK_CHANGE, slug, provider),
        )

    async def replace_secret(self, slug: str, provider: str, command: wire.ReplaceSecret) -> wire.Webhook:
        """
        Raises:
            NotFound: there is no such project or webhook.
            WebhookChanged: the webhook is not at the version that the command names.
        """
        return await self._change(
            slug,
            provider,
            lambda project: webhooks.replace_secret(project, provider, command, now=self._clock.now()),
            entry=lambda: self._entry(command.actor, Act.WEBHOOK_ROTATE, slug, provider),
        )

    async def delete(self, slug: str, provider: str, *, actor: str) -> None:
        """Forget the webhook and its secret; its deliveries keep their rows, so a replay stays a replay (C12).

        Raises:
            NotFound: there is no such project or webhook.
            Ambiguous: see `Actors.decide`.
        """

        def rule(view: View) -> Decision[None]:
            project = view.project.value
            if provider not in project.webhooks:
                return Decision(answer=None)
            if view.doubtful:
                raise Ambiguous(f"the {provider} webhook of {slug} was perhaps deleted, and made again since")
            entry = self._entry(actor, Act.WEBHOOK_DELETE, slug, provider)
            return Decision(answer=None, project=project.without_webhook(provider), writes=(entry,))

        async def at(project_id: ProjectId) -> None:
            webhooks.existing(await self._actors.read(project_id), provider)
            # If it is gone from here on it is deleted, by this very command if the answer to a first try was lost.
            await self._actors.decide(project_id, rule)

        await self._directory.at(slug, at)

    async def _change(
        self, slug: str, provider: str, rule: Callable[[Project], Project], *, entry: Callable[[], Write]
    ) -> wire.Webhook:
        def decide(view: View) -> Decision[Project]:
            before = view.project.value
            after = rule(before)
            if after is before:
                return Decision(answer=before)
            if view.doubtful:
                raise Ambiguous(f"the {provider} webhook of {slug} was perhaps changed like this, and by others since")
            return Decision(answer=after, project=after, writes=(entry(),))

        async def at(project_id: ProjectId) -> Project:
            return await self._actors.decide(project_id, decide)

        project = await self._directory.at(slug, at)
        return views.webhook(provider, webhooks.existing(project, provider))

    def _entry(self, actor: str, act: Act, slug: str, provider: str) -> Write:
        return self._audit.entry(actor, act, f"projects/{slug}/webhooks/{provider}")
