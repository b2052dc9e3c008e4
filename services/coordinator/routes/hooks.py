"""What the hooks ask: verify, record, count."""

from dataclasses import dataclass

from services.coordinator.deliveries import Deliveries
from services.coordinator.refusals import Refusals
from services.coordinator.webhooks import Webhooks
from services.kernel.web import Call, Served, route
from services.kernel.wire import deliveries as delivery_wire
from services.kernel.wire import internal
from services.kernel.wire import webhooks as webhook_wire
from services.kernel.wire.model import Empty


@dataclass(frozen=True, slots=True, kw_only=True)
class HooksRoutes:
    webhooks: Webhooks
    deliveries: Deliveries
    refusals: Refusals

    def served(self) -> list[Served]:
        return [
            route(internal.VERIFICATION, self._verification),
            route(internal.ACCEPT_DELIVERY, self._accept_delivery),
            route(internal.COUNT_REFUSALS, self._count_refusals),
        ]

    async def _verification(self, call: Call[Empty]) -> webhook_wire.Verification:
        return await self.webhooks.verification(call.path["project"], call.path["provider"])

    async def _accept_delivery(self, call: Call[delivery_wire.AcceptDelivery]) -> delivery_wire.DeliveryAnswer:
        return await self.deliveries.accept(call.path["project"], call.body)

    async def _count_refusals(self, call: Call[webhook_wire.CountRefusals]) -> Empty:
        await self.refusals.count(call.path["project"], call.body)
        return Empty()
