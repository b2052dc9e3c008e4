"""Webhook secrets as the world has them: sealed for real, and known here, so that it can be told who may sign."""

import base64
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from hashlib import sha256

from services.coordinator.records.project import Project
from services.coordinator.records.project import Sealed as Stored
from services.kernel import seal
from services.kernel.seal import Keyring, Sealed
from services.kernel.wire.deliveries import Provider
from services.kernel.wire.webhooks import SealedSecret

Place = tuple[str, str]
"""A webhook: the project's slug and the provider."""


def project_id(slug: str) -> str:
    return f"prj_{slug:0>22}"


def secret_of(version: str) -> str:
    """The secret that was sent along with this version, where the sender chose both."""
    return f"the secret of {version}"


class Ring(Keyring):
    """Repeats its nonces with what it seals, so that a seed shows the same documents again."""

    def __init__(self) -> None:
        super().__init__({"1": bytes(range(32))}, current="1")
        self._cipher = self._ciphers["1"]

    def seal(self, plain: bytes, aad: bytes) -> Sealed:
        nonce = sha256(aad + plain).digest()[:12]
        return Sealed(key_version="1", nonce=nonce, ciphertext=self._cipher.encrypt(nonce, plain, aad))


RING = Ring()


def sealed(slug: str, version: str, *, provider: str = Provider.GITHUB) -> SealedSecret:
    """The secret of one webhook version, known by its id."""
    secret_id = f"secret-{version}"
    made = RING.seal(secret_of(version).encode(), seal.aad(project_id(slug), provider, secret_id, "1"))
    return SealedSecret(
        secret_id=secret_id,
        key_version="1",
        nonce=base64.b64encode(made.nonce).decode(),
        ciphertext=base64.b64encode(made.ciphertext).decode(),
    )


@cache
def opened(project: str, provider: str, stored: Stored) -> str:
    made = Sealed(
        key_version=stored.key_version,
        nonce=base64.b64decode(stored.nonce),
        ciphertext=base64.b64decode(stored.ciphertext),
    )
    return RING.open(made, seal.aad(project, provider, stored.secret_id, stored.key_version)).decode()


@dataclass(slots=True)
class Secrets:
    """Which secret verified at which moment, where moments are counted in changes of webhooks."""

    moment: int = 0
    now: dict[Place, str | None] = field(default_factory=dict[Place, str | None])
    changes: dict[Place, list[tuple[int, str | None]]] = field(
        default_factory=dict[Place, list[tuple[int, str | None]]]
    )

    def note(self, projects: Mapping[str, Project]) -> None:
        """After each commit."""
        found: dict[Place, str | None] = dict.fromkeys(self.now)
        for project in projects.values():
            for provider, webhook in project.webhooks.items():
                secret = opened(project.project_id, provider, webhook.secret)
                found[project.slug, provider] = secret if webhook.enabled else None
        for place, valid in found.items():
            if place not in self.now or self.now[place] != valid:
                self.moment += 1
                self.changes.setdefault(place, []).append((self.moment, valid))
        self.now = found

    def since(self, place: Place, moment: int) -> list[str | None]:
        """What verified at that moment, and whatever did later."""
        changes = self.changes.get(place, [])
        before = [secret for at, secret in changes if at <= moment]
        return [before[-1] if before else None, *(secret for at, secret in changes if at > moment)]
