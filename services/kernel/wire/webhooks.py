"""Messages about webhooks. Only `SecretOnce` and `WebhookPut` ever carry a plain secret, and only outwards."""

from enum import StrEnum
from typing import Annotated

from pydantic import Field

from services.kernel.wire.deliveries import Delivery, Provider
from services.kernel.wire.model import Moment, Wire


class SealedSecret(Wire):
    """Ciphertext that only ingress can open (C13). `nonce` and `ciphertext` are base64 text."""

    secret_id: str
    key_version: str
    nonce: str
    ciphertext: str = Field(repr=False)


class Refusal(StrEnum):
    """Why a delivery was refused (C26). Strangers are told the same whichever it is."""

    MISSING_SIGNATURE = "missing_signature"
    BAD_SIGNATURE = "bad_signature"
    STALE_TIMESTAMP = "stale_timestamp"
    ANOTHER_HOST = "another_host"
    NO_WEBHOOK = "no_webhook"
    DISABLED = "disabled"
    UNUSABLE_SECRET = "unusable_secret"
    TOO_MANY_REQUESTS = "too_many_requests"
    INVALID_DELIVERY_ID = "invalid_delivery_id"
    INVALID_PAYLOAD = "invalid_payload"
    REPOSITORY_MISMATCH = "repository_mismatch"


InstanceUrl = Annotated[
    str, Field(max_length=500, pattern=r"^https://[A-Za-z0-9.-]+(?::[0-9]{1,5})?(?:/[A-Za-z0-9._~-]+)*/?$")
]


class WebhookConfig(Wire):
    """What a provider's webhook needs besides its secret; where it changes, only the given fields do.

    `instance_url` is where the host is, for links; the repository's own host unless given. `signing_token`: GitLab
    signs deliveries with the secret (Standard Webhooks) instead of sending it along.
    """

    instance_url: InstanceUrl | None = None
    signing_token: bool = False


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
    """A webhook as people see it: never its secret. `refused` counts deliveries by reason since `rotated_at`."""

    provider: Provider
    enabled: bool
    version: str
    config: WebhookConfig
    rotated_at: Moment
    refused: dict[Refusal, int] = Field(default_factory=dict[Refusal, int])
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


class WebhookCheck(Wire):
    """One check of a webhook, and what was found."""

    name: str
    passed: bool
    finding: str


class WebhookTest(Wire):
    """What a sample delivery met on its way, check by check up to the first that failed."""

    passed: bool
    checks: tuple[WebhookCheck, ...]


# Ingress to coordinator


Times = Annotated[int, Field(ge=1, le=2**31)]


class CountRefusals(Wire):
    """Refused deliveries of one project since it was last told. Told twice they are counted twice."""

    refused: dict[Provider, dict[Refusal, Times]]


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
