"""Webhooks: created, configured, rotated, deleted. A plain secret leaves once, in the answer to its making (R70)."""

from typing import Final

from services.ingress import custody
from services.ingress.coordinator import Coordinator
from services.ingress.custody import Custody
from services.ingress.providers.port import GitHost
from services.ingress.providers.registry import git_host
from services.ingress.trial import Trial
from services.kernel.errors import (
    ConfirmationRequired,
    FieldProblem,
    Invalid,
    NotFound,
    SecretNotAllowed,
    WebhookChanged,
)
from services.kernel.ports import Ids
from services.kernel.web import Answer, Call, Served, route
from services.kernel.wire import api, internal
from services.kernel.wire.audit import Actor
from services.kernel.wire.deliveries import Provider
from services.kernel.wire.model import Empty, Page
from services.kernel.wire.webhooks import (
    CreateWebhook,
    PutWebhook,
    ReplaceSecret,
    RotateSecret,
    SealedSecret,
    SecretOnce,
    UpdateWebhook,
    Webhook,
    WebhookConfig,
    WebhookPut,
    WebhookTest,
)

_NEVER_STORED: Final = {"Cache-Control": "no-store"}


class Webhooks:
    def __init__(self, coordinator: Coordinator, custody: Custody, trial: Trial, ids: Ids) -> None:
        self._coordinator = coordinator
        self._custody = custody
        self._trial = trial
        self._ids = ids

    def served(self) -> list[Served]:
        return [
            route(api.LIST_WEBHOOKS, self._list),
            route(api.PUT_WEBHOOK, self._put),
            route(api.ROTATE_SECRET, self._rotate),
            route(api.TEST_WEBHOOK, self._test),
            route(api.DELETE_WEBHOOK, self._delete),
        ]

    async def _list(self, call: Call[Empty]) -> Page[Webhook]:
        return await self._coordinator.call(internal.LIST_WEBHOOKS, path=call.path)

    async def _put(self, call: Call[PutWebhook]) -> Answer[WebhookPut]:
        provider, host = git_host(call.path["provider"])
        present = await self._find(call.path["project"], provider)
        wanted = _configured(WebhookConfig() if present is None else present.config, call.body.config)
        if wanted.signing_token and not host.has_signing_token:
            raise _refused("config.signingToken", f"{provider} has no signing token")
        if present is not None:
            return await self._update(call, wanted)
        return await self._create(call, wanted)

    async def _create(self, call: Call[PutWebhook], config: WebhookConfig) -> Answer[WebhookPut]:
        provider, host = git_host(call.path["provider"])
        if call.body.enabled is None:
            raise _refused("enabled", "required")
        given = call.body.secret
        if given is not None:
            custody.check(given, host, config)
        generated = custody.generate(self._ids, host, config) if given is None else None
        command = CreateWebhook(
            version=self._ids.token(),
            enabled=call.body.enabled,
            config=call.body.config or WebhookConfig(),
            secret=await self._sealed(generated or given or "", call.path["project"], provider),
            actor=call.caller.email,
        )
        webhook = await self._coordinator.call(internal.CREATE_WEBHOOK, path=call.path, body=command)
        return Answer(WebhookPut(webhook=webhook, generated_secret=generated), status=201, headers=_NEVER_STORED)

    async def _update(self, call: Call[PutWebhook], config: WebhookConfig) -> Answer[WebhookPut]:
        if "secret" in call.body.model_fields_set:
            raise SecretNotAllowed(fields=(FieldProblem(field="secret", message="only on create"),))
        if call.body.config is not None:
            await self._check_stored(call, config)
        command = UpdateWebhook(
            version=self._ids.token(), enabled=call.body.enabled, config=call.body.config, actor=call.caller.email
        )
        return Answer(
            WebhookPut(webhook=await self._coordinator.call(internal.UPDATE_WEBHOOK, path=call.path, body=command))
        )

    async def _rotate(self, call: Call[RotateSecret]) -> Answer[SecretOnce]:
        provider, host = git_host(call.path["provider"])
        if not call.body.confirm:
            raise ConfirmationRequired(fields=(FieldProblem(field="confirm", message="must be true"),))
        secret = await self._new_secret(call, provider, host)
        command = ReplaceSecret(
            version=self._ids.token(),
            if_version=call.body.version,
            secret=await self._sealed(secret, call.path["project"], provider),
            actor=call.caller.email,
        )
        # Never asked again (C16): whoever does not get this answer must look at the webhook and rotate anew.
        await self._coordinator.call_once(internal.REPLACE_SECRET, path=call.path, body=command)
        return Answer(SecretOnce(secret=secret), headers=_NEVER_STORED)

    async def _test(self, call: Call[Empty]) -> WebhookTest:
        provider, host = git_host(call.path["provider"])
        return await self._trial.run(call.path["project"], provider, host)

    async def _delete(self, call: Call[Empty]) -> Empty:
        git_host(call.path["provider"])
        body = Actor(actor=call.caller.email)
        return await self._coordinator.call(internal.DELETE_WEBHOOK, path=call.path, body=body)

    async def _find(self, project: str, provider: Provider) -> Webhook | None:
        present = await self._coordinator.call(internal.LIST_WEBHOOKS, path={"project": project})
        return next((webhook for webhook in present.items if webhook.provider is provider), None)

    async def _new_secret(self, call: Call[RotateSecret], provider: Provider, host: GitHost) -> str:
        """A secret that fits the webhook as the caller saw it."""
        present = await self._find(call.path["project"], provider)
        if present is None:
            raise NotFound(f"{call.path['project']} has no {provider} webhook")
        if present.version != call.body.version:
            raise WebhookChanged(f"the webhook is at version {present.version}")
        return custody.generate(self._ids, host, present.config)

    async def _check_stored(self, call: Call[PutWebhook], config: WebhookConfig) -> None:
        """Refuse a configuration in which the stored secret proves nothing: no delivery would be taken any more."""
        provider, host = git_host(call.path["provider"])
        found = await self._coordinator.call(internal.TEST_MATERIAL, path=call.path)
        secret = self._custody.secret(found, provider)
        if secret is not None and (reason := host.unfit(config, secret=secret.decode())) is not None:
            raise _refused("config.signingToken", f"the stored secret is none: {reason}; delete the webhook first")

    async def _sealed(self, secret: str, project: str, provider: Provider) -> SealedSecret:
        found = await self._coordinator.call(internal.GET_PROJECT, path={"project": project})
        return self._custody.seal(secret, project_id=found.project_id, provider=provider)


def _configured(before: WebhookConfig, given: WebhookConfig | None) -> WebhookConfig:
    return before if given is None else before.model_copy(update=given.model_dump(exclude_unset=True, by_alias=False))


def _refused(field: str, message: str) -> Invalid:
    return Invalid(f"{field}: {message}", fields=(FieldProblem(field=field, message=message),))
