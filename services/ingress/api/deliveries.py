"""What the Git hosts delivered, and what became of it."""

import re

from services.ingress.coordinator import Coordinator
from services.kernel.errors import NotFound
from services.kernel.ids import DELIVERY_ID
from services.kernel.web import Call, Served, route
from services.kernel.wire import api, internal
from services.kernel.wire.deliveries import Delivery, DeliveryQuery
from services.kernel.wire.model import Empty, Page


class Deliveries:
    def __init__(self, coordinator: Coordinator) -> None:
        self._coordinator = coordinator

    def served(self) -> list[Served]:
        return [route(api.LIST_DELIVERIES, self._list), route(api.GET_DELIVERY, self._get)]

    async def _list(self, call: Call[DeliveryQuery]) -> Page[Delivery]:
        return await self._coordinator.call(internal.LIST_DELIVERIES, path=call.path, body=call.body)

    async def _get(self, call: Call[Empty]) -> Delivery:
        if re.fullmatch(DELIVERY_ID, call.path["delivery"]) is None:
            raise NotFound(f"there is no delivery {call.path['delivery']!r}")
        return await self._coordinator.call(internal.GET_DELIVERY, path=call.path)
