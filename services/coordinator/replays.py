"""Counting how often a delivery was replayed: at best effort (C5), one write at a time however many come at once."""

from services.coordinator.background import Background
from services.coordinator.records.delivery import DELIVERIES
from services.coordinator.rules import deliveries
from services.kernel.ids import DeliveryRowId
from services.kernel.ports import Clock, Ids, Store


class Replays:
    def __init__(self, store: Store, background: Background, *, clock: Clock, ids: Ids) -> None:
        self._store = store
        self._background = background
        self._clock = clock
        self._ids = ids
        self._uncounted: dict[DeliveryRowId, int] = {}

    def count(self, row_id: DeliveryRowId) -> None:
        """One more replay of this row, to be written soon, together with those that come until then."""
        writing = row_id in self._uncounted
        self._uncounted[row_id] = self._uncounted.get(row_id, 0) + 1
        if not writing:
            self._background.follow(self._write(row_id))

    async def _write(self, row_id: DeliveryRowId) -> None:
        try:
            while times := self._uncounted[row_id]:
                await self._add(row_id, times)
                self._uncounted[row_id] -= times
        finally:
            del self._uncounted[row_id]

    async def _add(self, row_id: DeliveryRowId, times: int) -> None:
        (snapshot,) = await self._store.get([DELIVERIES.ref(row_id)])
        if (held := DELIVERIES.load_if(snapshot)) is not None:
            counted = deliveries.repeated(held.value, times=times, now=self._clock.now())
            await self._store.commit([DELIVERIES.replace(row_id, counted, at=held.version, ids=self._ids)])
