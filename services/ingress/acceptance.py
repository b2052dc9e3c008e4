"""A webhook delivery from verification to the coordinator's decision."""

from dataclasses import dataclass

from services.ingress.coordinator import Coordinator
from services.ingress.materials import Webhook
from services.ingress.providers.port import GitHost, Received
from services.ingress.refusals import Refusals
from services.ingress.verification import Verification
from services.kernel.errors import (
    Invalid,
    InvalidDeliveryId,
    NotFound,
    RepositoryMismatch,
    StaleVerification,
    Unavailable,
)
from services.kernel.ids import new_run_id
from services.kernel.ports import Ids
from services.kernel.wire import internal
from services.kernel.wire.deliveries import AcceptDelivery, Canonical, DeliveryAnswer
from services.kernel.wire.webhooks import Refusal


@dataclass(frozen=True, slots=True, kw_only=True)
class Accepted:
    """What became of the delivery that its host calls `delivery_id`."""

    delivery_id: str
    answer: DeliveryAnswer


class Acceptance:
    def __init__(self, coordinator: Coordinator, verification: Verification, refusals: Refusals, ids: Ids) -> None:
        self._coordinator = coordinator
        self._verification = verification
        self._refusals = refusals
        self._ids = ids

    async def accept(self, webhook: Webhook, host: GitHost, received: Received) -> Accepted:
        """Verify, read and record, in this order; nothing is read of what is not verified.

        Raises:
            InvalidSignature, TooManyRequests: it is not verified.
            InvalidDeliveryId, InvalidPayload: it is, but says nothing that can be recorded.
            RepositoryMismatch: it is about another repository (C7).
            Unavailable, Ambiguous: it may have been recorded, and sending it again is safe.
        """
        mark = self._verification.mark()
        version = await self._verification.verify(webhook, host, received, mark=mark)
        try:
            canonical = host.normalise(received, delivery_id=host.delivery_id(received))
        except Invalid as error:
            # What is wrong with a body is told to holders of the secret of this moment, not of an old one (R77).
            await self._verification.verify_anew(webhook, host, received, mark=mark)
            is_id = isinstance(error, InvalidDeliveryId)
            self._refusals.count(webhook, Refusal.INVALID_DELIVERY_ID if is_id else Refusal.INVALID_PAYLOAD)
            raise
        answer = await self._record(webhook, host, received, canonical=canonical, version=version)
        return Accepted(delivery_id=canonical.delivery_id, answer=answer)

    async def _record(
        self, webhook: Webhook, host: GitHost, received: Received, *, canonical: Canonical, version: str
    ) -> DeliveryAnswer:
        """Record it; if the webhook changed meanwhile, verify by what it is now and try once more (C11)."""
        command = AcceptDelivery(canonical=canonical, webhook_version=version, run_id=new_run_id(self._ids))
        mark = self._verification.mark()
        try:
            return await self._send(webhook, command)
        except (StaleVerification, NotFound):
            version = await self._verification.verify_anew(webhook, host, received, mark=mark)
        try:
            return await self._send(webhook, command.model_copy(update={"webhook_version": version}))
        except (StaleVerification, NotFound) as error:
            raise Unavailable("the webhook is being changed") from error

    async def _send(self, webhook: Webhook, command: AcceptDelivery) -> DeliveryAnswer:
        try:
            return await self._coordinator.call(
                internal.ACCEPT_DELIVERY, path={"project": webhook.project}, body=command
            )
        except RepositoryMismatch:
            self._refusals.count(webhook, Refusal.REPOSITORY_MISMATCH)
            raise
        except Invalid as error:
            raise Unavailable("the delivery was not understood within") from error
