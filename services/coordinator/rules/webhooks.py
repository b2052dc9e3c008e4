"""A project's webhooks: created, switched, given a new secret, deleted.

Each change gives the webhook a new random version, named by the caller, so that a command whose answer was lost finds
itself applied, and a delivery that an older version verified is refused (C11).
"""

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime

from services.coordinator.records.project import Project, Sealed, Webhook
from services.kernel.errors import NotFound, WebhookChanged
from services.kernel.wire.webhooks import CreateWebhook, ReplaceSecret, SealedSecret, UpdateWebhook, WebhookConfig


def create(project: Project, provider: str, command: CreateWebhook, *, now: datetime) -> Project:
    """
    Raises:
        WebhookChanged: the project has a webhook of this provider already.
    """
    webhook = project.webhooks.get(provider)
    if webhook is not None:
        return _applied(project, webhook, command.version)
    created = Webhook(
        version=command.version,
        enabled=command.enabled,
        config=_configured({}, command.config),
        secret=_sealed(command.secret),
        rotated_at=now,
    )
    return project.with_webhook(provider, created)


def update(project: Project, provider: str, command: UpdateWebhook) -> Project:
    """Switch or configure; the secret stays, also while disabled (R74). What changes nothing leaves the version too.

    Raises:
        NotFound: there is no such webhook.
    """
    webhook = existing(project, provider)
    if webhook.version == command.version:
        return project
    enabled = webhook.enabled if command.enabled is None else command.enabled
    config = webhook.config if command.config is None else _configured(webhook.config, command.config)
    if (enabled, config) == (webhook.enabled, webhook.config):
        return project
    changed = replace(webhook, version=command.version, enabled=enabled, config=config)
    return project.with_webhook(provider, changed)


def replace_secret(project: Project, provider: str, command: ReplaceSecret, *, now: datetime) -> Project:
    """The old secret is gone with this state; there is no overlap (R77).

    Raises:
        NotFound: there is no such webhook.
        WebhookChanged: it is not at the version that the caller saw; of two rotations at once one wins.
    """
    webhook = existing(project, provider)
    if webhook.version != command.if_version:
        return _applied(project, webhook, command.version)
    changed = replace(webhook, version=command.version, secret=_sealed(command.secret), rotated_at=now)
    return project.with_webhook(provider, changed)


def existing(project: Project, provider: str) -> Webhook:
    """
    Raises:
        NotFound: there is no such webhook.
    """
    webhook = project.webhooks.get(provider)
    if webhook is None:
        raise NotFound(f"{project.slug} has no {provider} webhook")
    return webhook


def _configured(before: Mapping[str, str | bool], given: WebhookConfig) -> dict[str, str | bool]:
    """Only the given fields change; null takes one away (R72)."""
    changed = {**before, **given.model_dump(exclude_unset=True, by_alias=False)}
    return {name: value for name, value in changed.items() if value is not None}


def _applied(project: Project, webhook: Webhook, version: str) -> Project:
    if webhook.version != version:
        raise WebhookChanged(f"the webhook is at version {webhook.version}")
    return project


def _sealed(secret: SealedSecret) -> Sealed:
    return Sealed(
        secret_id=secret.secret_id,
        key_version=secret.key_version,
        nonce=secret.nonce,
        ciphertext=secret.ciphertext,
    )
