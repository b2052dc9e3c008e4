"""Whether a delivery is genuine: verified on its raw bytes before anything else is read of it (H1)."""

from datetime import timedelta
from typing import Final

from services.ingress.custody import Custody
from services.ingress.materials import LoadNumber, Material, Materials, Webhook
from services.ingress.providers.port import GitHost, Received
from services.ingress.throttle import Throttle
from services.kernel.errors import InvalidSignature, TooManyRequests
from services.kernel.log import get_logger

log = get_logger(__name__)

# What is verified with where there is no secret, so that it takes as long (H2). Whatever it signs is refused.
_NO_SECRET: Final = bytes(32)
_COME_AGAIN: Final = timedelta(seconds=1)


class Verification:
    """Refusals of every cause are one and the same `InvalidSignature` and take the same steps (H2)."""

    def __init__(self, materials: Materials, custody: Custody, throttle: Throttle) -> None:
        self._materials = materials
        self._custody = custody
        self._throttle = throttle

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
        version = self._version(await self._materials.known(webhook), webhook, host, received)
        if version is not None:
            return version
        if not self._throttle.allows():
            raise TooManyRequests(retry_after=_COME_AGAIN)
        return await self.verify_anew(webhook, host, received, mark=mark)

    async def verify_anew(self, webhook: Webhook, host: GitHost, received: Received, *, mark: LoadNumber) -> str:
        """As `verify`, by nothing that was loaded before `mark`."""
        version = self._version(await self._materials.newer(webhook, mark), webhook, host, received)
        if version is None:
            log.info("a delivery was refused", project=webhook.project, provider=webhook.provider)
            raise InvalidSignature
        return version

    def _version(self, material: Material, webhook: Webhook, host: GitHost, received: Received) -> str | None:
        found = material.verification
        secret = self._custody.secret(found, webhook.provider)
        genuine = host.verifies(received, secret=secret or _NO_SECRET)
        return found.version if genuine and secret and found.enabled else None
