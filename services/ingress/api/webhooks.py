"""Webhooks: created, configured, rotated, deleted. A plain secret leaves once, in the answer to its making (R70)."""

from typing import Final

from services.ingress import custody
from services.ingress.coordinator import Coordinator
from services.ingress.custody import Custody
from services.ingress.providers.registry import git_host
from services.kernel.errors import ConfirmationRequired, FieldProblem, Invalid, SecretNotAllowed
from services.kernel.ports import Ids
from services.kernel.web import Answer, Call, Served, route
from services.kernel.wire import api, internal
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
)

_NEVER_STORED: Final = {"Cache-Control": "no-store"}


class Webhooks:
    def __init__(self, coordinator: Coordinator, custody: Custody, ids: Ids) -> None:
        self._coordinator = coordinator
        self._custody = custody
        self._ids = ids

    def served(self) -> list[Served]:
        return [
            route(api.LIST_WEBHOOKS, self._list),
            route(api.PUT_WEBHOOK, self._put),
            route(api.ROTATE_SECRET, self._rotate),
            route(api.DELETE_WEBHOOK, self._delete),
        ]

    async def _list(self, call: Call[Empty]) -> Page[Webhook]:
        return await self._coordinator.call(internal.LIST_WEBHOOKS, path=call.path)

    async def _put(self, call: Call[PutWebhook]) -> Answer[WebhookPut]:
        provider, _ = git_host(call.path["provider"])
        project = {"project": call.path["project"]}
        present = await self._coordinator.call(internal.LIST_WEBHOOKS, path=project)
        if any(webhook.provider is provider for webhook in present.items):
            return await self._update(call)
        return await self._create(call, provider)

    async def _create(self, call: Call[PutWebhook], provider: Provider) -> Answer[WebhookPut]:
        wanted = call.body
        if wanted.enabled is None:
            raise Invalid("enabled is required", fields=(FieldProblem(field="enabled", message="required"),))
        if wanted.secret is not None:
            custody.check_strength(wanted.secret)
        generated = custody.generate(self._ids) if wanted.secret is None else None
        command = CreateWebhook(
            version=self._ids.token(),
            enabled=wanted.enabled,
            config=wanted.config or WebhookConfig(),
            secret=await self._sealed(generated or wanted.secret or "", call.path["project"], provider),
            actor=call.caller.email,
        )
        webhook = await self._coordinator.call(internal.CREATE_WEBHOOK, path=call.path, body=command)
        return Answer(WebhookPut(webhook=webhook, generated_secret=generated), status=201, headers=_NEVER_STORED)

    async def _update(self, call: Call[PutWebhook]) -> Answer[WebhookPut]:
        if "secret" in call.body.model_fields_set:
            raise SecretNotAllowed(fields=(FieldProblem(field="secret", message="only on create"),))
        command = UpdateWebhook(
            version=self._ids.token(), enabled=call.body.enabled, config=call.body.config, actor=call.caller.email
        )
        return Answer(
            WebhookPut(webhook=await self._coordinator.call(internal.UPDATE_WEBHOOK, path=call.path, body=command))
        )

    async def _rotate(self, call: Call[RotateSecret]) -> Answer[SecretOnce]:
        provider, _ = git_host(call.path["provider"])
        if not call.body.confirm:
            raise ConfirmationRequired(fields=(FieldProblem(field="confirm", message="must be true"),))
        secret = custody.generate(self._ids)
        command = ReplaceSecret(
            version=self._ids.token(),
            if_version=call.body.version,
            secret=await self._sealed(secret, call.path["project"], provider),
            actor=call.caller.email,
        )
        # Never asked again (C16): whoever does not get this answer must look at the webhook and rotate anew.
        await self._coordinator.call_once(internal.REPLACE_SECRET, path=call.path, body=command)
        return Answer(SecretOnce(secret=secret), headers=_NEVER_STORED)

    async def _delete(self, call: Call[Empty]) -> Empty:
        git_host(call.path["provider"])
        return await self._coordinator.call(internal.DELETE_WEBHOOK, path=call.path)

    async def _sealed(self, secret: str, project: str, provider: Provider) -> SealedSecret:
        found = await self._coordinator.call(internal.GET_PROJECT, path={"project": project})
        return self._custody.seal(secret, project_id=found.project_id, provider=provider)
