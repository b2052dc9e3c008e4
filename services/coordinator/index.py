"""Keeping the run index true: the only writer of `run_index` (R29)."""

from collections.abc import Callable

from services.coordinator.records.row import RUN_INDEX, Row
from services.coordinator.records.run import RUNS, IndexSync, Run
from services.coordinator.records.table import Held
from services.coordinator.rules import index
from services.coordinator.rules.numbers import Numbers
from services.kernel.errors import AlreadyExists, Ambiguous, Contended, PreconditionFailed
from services.kernel.ids import RunId
from services.kernel.ports import Clock, Ids, Store, Write

_TRIES = 8


class RunDocuments:
    """Changes of a run that no project decides about: what is owed to the index and to its timers.

    Every other change of a run moves its version too, so that these never overwrite one.
    """

    def __init__(self, store: Store, *, clock: Clock, ids: Ids, numbers: Numbers) -> None:
        self._store = store
        self._clock = clock
        self._ids = ids
        self._numbers = numbers

    async def read(self, run_id: RunId) -> Held[Run] | None:
        (snapshot,) = await self._store.get([RUNS.ref(run_id)])
        return RUNS.load_if(snapshot)

    async def update(self, run_id: RunId, rule: Callable[[Run], Run]) -> None:
        """Replace the run by what the rule makes of it, by compare-and-set; nothing is written if that is the same.

        Raises:
            Contended: others changed it every time; it is due again.
        """
        for _ in range(_TRIES):
            held = await self.read(run_id)
            if held is None or (changed := rule(held.value)) == held.value:
                return
            if await self._commit([RUNS.replace(run_id, changed, at=held.version, ids=self._ids)]):
                return
        raise Contended(f"{run_id} was changed by others every time")

    async def sync(self, run_id: RunId) -> None:
        """Bring the run's row up to date, if that is owed.

        Row and `index_sync` move in one commit that holds only if the run is still the one that was upserted (Y4).

        Raises:
            Contended: others changed it every time; it is due again.
        """
        for _ in range(_TRIES):
            run_snapshot, row_snapshot = await self._store.get([RUNS.ref(run_id), RUN_INDEX.ref(run_id)])
            held = RUNS.load_if(run_snapshot)
            if held is None or held.value.index_sync in (IndexSync.CURRENT, IndexSync.DONE):
                return
            row = RUN_INDEX.load_if(row_snapshot)
            synced = RUNS.replace(run_id, index.synced(held.value), at=held.version, ids=self._ids)
            if await self._commit([synced, *self._upsert(held.value, row)]):
                return
        raise Contended(f"{run_id} was changed by others every time")

    def _upsert(self, run: Run, row: Held[Row] | None) -> list[Write]:
        truth = index.truth(run, keep=self._numbers.keep_index)
        merged = index.merge(None if row is None else row.value, truth)
        if row is None:
            return [RUN_INDEX.create(run.run_id, merged, ids=self._ids)]
        if merged == row.value:
            return []
        return [RUN_INDEX.replace(run.run_id, merged, at=row.version, ids=self._ids)]

    async def _commit(self, writes: list[Write]) -> bool:
        """False: a race was lost, or no answer came; look again."""
        try:
            await self._store.commit(writes)
        except (PreconditionFailed, AlreadyExists, Contended, Ambiguous):
            return False
        return True
