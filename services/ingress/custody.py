"""Webhook secrets: made, sealed and opened here, and nowhere else (C13). A plain one lives in memory only (R82)."""

import base64
import binascii

from services.ingress.providers.port import GitHost
from services.kernel import seal
from services.kernel.errors import FieldProblem, Invalid, WeakSecret
from services.kernel.log import get_logger
from services.kernel.ports import Ids
from services.kernel.wire.deliveries import Provider
from services.kernel.wire.webhooks import SealedSecret, Verification, WebhookConfig

log = get_logger(__name__)

LEAST_BYTES = 16


def generate(ids: Ids, host: GitHost, config: WebhookConfig) -> str:
    """A new secret: 256 random bits in the form that the host needs."""
    return host.new_secret(config, entropy=ids.token() + ids.token())


def check(secret: str, host: GitHost, config: WebhookConfig) -> None:
    """
    Raises:
        WeakSecret: it has fewer than 16 bytes in UTF-8 (K8).
        Invalid: the host cannot prove it in this configuration.
    """
    if len(secret.encode()) < LEAST_BYTES:
        message = f"needs at least {LEAST_BYTES} bytes"
        raise WeakSecret(f"the secret {message}", fields=(FieldProblem(field="secret", message=message),))
    if (reason := host.unfit(config, secret=secret)) is not None:
        raise Invalid(f"the secret cannot be used: {reason}", fields=(FieldProblem(field="secret", message=reason),))


class Custody:
    """Seals with the ring's current key; opens with the one that sealed (K10)."""

    def __init__(self, keyring: seal.Keyring, ids: Ids) -> None:
        self._keyring = keyring
        self._ids = ids

    def seal(self, secret: str, *, project_id: str, provider: Provider) -> SealedSecret:
        """`secret` for this webhook alone, under an id of its own."""
        secret_id = self._ids.token()
        place = seal.aad(project_id, provider, secret_id, self._keyring.current)
        sealed = self._keyring.seal(secret.encode(), place)
        return SealedSecret(
            secret_id=secret_id,
            key_version=sealed.key_version,
            nonce=base64.b64encode(sealed.nonce).decode(),
            ciphertext=base64.b64encode(sealed.ciphertext).decode(),
        )

    def secret(self, verification: Verification, provider: Provider) -> bytes | None:
        """The webhook's plain secret; None where there is none, or none that opens in this place (K6)."""
        sealed, project_id = verification.secret, verification.project_id
        if sealed is None or project_id is None:
            return None
        place = seal.aad(project_id, provider, sealed.secret_id, sealed.key_version)
        try:
            return self._keyring.open(_bytes(sealed), place)
        except (seal.Unsealable, binascii.Error) as error:
            log.error("a webhook's secret does not open", project=project_id, provider=provider, reason=str(error))
            return None


def _bytes(sealed: SealedSecret) -> seal.Sealed:
    return seal.Sealed(
        key_version=sealed.key_version,
        nonce=base64.b64decode(sealed.nonce, validate=True),
        ciphertext=base64.b64decode(sealed.ciphertext, validate=True),
    )
