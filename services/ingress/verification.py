"""Whether a delivery is genuine: verified on its raw bytes before anything else is read of it (H1)."""

from dataclasses import dataclass
from datetime import timedelta
from typing import Final

from services.ingress.custody import Custody
from services.ingress.materials import LoadNumber, Material, Materials, Webhook
from services.ingress.providers.port import GitHost, Key, Received
from services.ingress.refusals import Refusals
from services.ingress.throttle import Throttle
from services.kernel.errors import InvalidSignature, TooManyRequests
from services.kernel.ports import Clock
from services.kernel.wire.webhooks import Refusal
from services.kernel.wire.webhooks import Verification as Found

# What is verified with where there is no secret, so that it takes as long (H2). Whatever it signs is refused.
_NO_SECRET: Final = bytes(32)
_COME_AGAIN: Final = timedelta(seconds=1)


@dataclass(frozen=True, slots=True)
class _Refused:
    """`reason` is None where there is no project to count it for."""

    reason: Refusal | None


class Verification:
    """Refusals of every cause are one and the same `InvalidSignature` and take the same steps (H2)."""

    def __init__(
        self, materials: Materials, custody: Custody, throttle: Throttle, refusals: Refusals, *, clock: Clock
    ) -> None:
        self._materials = materials
        self._custody = custody
        self._throttle = throttle
        self._refusals = refusals
        self._clock = clock

    def mark(self) -> LoadNumber:
        """Now, in terms of what has been loaded."""
        return self._materials.begun

    async def verify(self, webhook: Webhook, host: GitHost, received: Received, *, mark: LoadNumber) -> str:
        """The version of the webhook whose secret signed this.

        Raises:
            InvalidSignature: none; neither the known one, nor one loaded after `mark`.
            TooManyRequests: not the known one, and too many others failed just now to load anything for it.
            Unavailable, Ambiguous: what is needed could not be loaded.
        """
        material = await self._materials.known(webhook)
        version = self._judged(material, webhook, host, received)
        if not isinstance(version, _Refused):
            return version
        if not self._throttle.allows():
            known = material.verification.project_id is not None
            self._refusals.count(webhook, Refusal.TOO_MANY_REQUESTS if known else None)
            raise TooManyRequests(retry_after=_COME_AGAIN)
        return await self.verify_anew(webhook, host, received, mark=mark)

    async def verify_anew(self, webhook: Webhook, host: GitHost, received: Received, *, mark: LoadNumber) -> str:
        """As `verify`, by nothing that was loaded before `mark`."""
        version = self._judged(await self._materials.newer(webhook, mark), webhook, host, received)
        if isinstance(version, _Refused):
            self._refusals.count(webhook, version.reason)
            raise InvalidSignature
        return version

    def _judged(self, material: Material, webhook: Webhook, host: GitHost, received: Received) -> str | _Refused:
        found = material.verification
        secret = self._custody.secret(found, webhook.provider)
        key = Key(secret=secret or _NO_SECRET, config=found.config)
        refusal = host.refusal(received, key, now=self._clock.now())
        if found.project_id is None:
            return _Refused(None)
        if found.version is None or not found.enabled or not secret:
            return _Refused(_unusable(found))
        return found.version if refusal is None else _Refused(refusal)


def _unusable(found: Found) -> Refusal:
    """Why nothing at all can be verified."""
    if found.version is None:
        return Refusal.NO_WEBHOOK
    return Refusal.UNUSABLE_SECRET if found.enabled else Refusal.DISABLED
