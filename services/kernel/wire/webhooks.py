"""Messages about webhooks. Only `SecretOnce` and `CreatedWebhook` ever carry a plain secret, and only outwards."""

from pydantic import Field

from services.kernel.wire.deliveries import Delivery, Provider
from services.kernel.wire.model import Moment, Wire


class SealedSecret(Wire):
    """Ciphertext that only ingress can open (C13). `nonce` and `ciphertext` are base64 text."""

    secret_id: str
    key_version: str
    nonce: str
    ciphertext: str = Field(repr=False)


class WebhookConfig(Wire):
    """What a provider's webhook needs besides its secret. GitHub needs nothing."""


class Verification(Wire):
    """What ingress needs to verify a project's deliveries of one provider (R81); null parts mean: refuse.

    `version` is a random id of this very state of the webhook.
    """

    project_id: str | None
    version: str | None
    enabled: bool
    config: WebhookConfig
    secret: SealedSecret | None


class Webhook(Wire):
    """A webhook as people see it: never its secret."""

    provider: Provider
    enabled: bool
    version: str
    config: WebhookConfig
    rotated_at: Moment
    deliveries: tuple[Delivery, ...] = ()


class PutWebhook(Wire):
    """Create: `enabled` is required, `secret` optional (one is generated without it). Update: never a secret (R73)."""

    enabled: bool | None = None
    secret: str | None = Field(default=None, max_length=1024, repr=False)
    config: WebhookConfig | None = None


class WebhookPut(Wire):
    """`generated_secret` is shown here once, and only if the webhook was created without one (R70)."""

    webhook: Webhook
    generated_secret: str | None = Field(default=None, repr=False)


class RotateSecret(Wire):
    """A rotation cannot be undone and is never retried (C16); `version` is the webhook's as last seen."""

    confirm: bool = False
    version: str


class SecretOnce(Wire):
    """The new secret, this once (R76)."""

    secret: str = Field(repr=False)


# Ingress to coordinator


class CreateWebhook(Wire):
    """`version` is the caller's own fresh id, so that asking again finds itself applied."""

    version: str
    enabled: bool
    config: WebhookConfig
    secret: SealedSecret
    actor: str


class UpdateWebhook(Wire):
    version: str
    enabled: bool | None = None
    config: WebhookConfig | None = None
    actor: str


class ReplaceSecret(Wire):
    """Put a new secret in the place of the one at `if_version`."""

    version: str
    if_version: str
    secret: SealedSecret
    actor: str
