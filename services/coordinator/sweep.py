"""Finding what is due, whoever forgot it: the safety net under every task and follow-up."""

import asyncio
from datetime import timedelta

from services.coordinator.layout import DUE_RUNS
from services.coordinator.reconcile import Reconciler
from services.coordinator.records.run import RUNS
from services.kernel.errors import AnvilError, PreconditionFailed
from services.kernel.ids import RunId
from services.kernel.log import get_logger
from services.kernel.ports import Clock, Cursor, Ids, Op, Query, Replace, Snapshot, Store, Where
from services.kernel.wire.runs import Swept

log = get_logger(__name__)

_PAGE = 100
_AT_ONCE = 8
_FIRST_BACK_OFF = timedelta(seconds=30)
_LONGEST_BACK_OFF = timedelta(hours=1)


class Sweeper:
    def __init__(self, store: Store, reconciler: Reconciler, *, clock: Clock, ids: Ids) -> None:
        self._store = store
        self._reconciler = reconciler
        self._clock = clock
        self._ids = ids

    async def sweep(self) -> Swept:
        """Look at every run that was due when the sweep began, page by page.

        One that fails is put off, longer each time, so that it never starves the others (Q12).
        """
        now = self._clock.now()
        looked_at = failed = 0
        after: Cursor | None = None
        while True:
            page = await self._store.query(
                Query(
                    collection=RUNS.collection,
                    where=(Where("attention_at", Op.AT_MOST, now),),
                    order=DUE_RUNS.order,
                    limit=_PAGE,
                    after=after,
                )
            )
            for start in range(0, len(page), _AT_ONCE):
                fine = await asyncio.gather(*(self._look(snapshot) for snapshot in page[start : start + _AT_ONCE]))
                looked_at += len(fine)
                failed += fine.count(False)
            if len(page) < _PAGE:
                return Swept(looked_at=looked_at, failed=failed)
            after = Cursor(values=(page[-1].data["attention_at"],), id=page[-1].ref.id)

    async def _look(self, snapshot: Snapshot) -> bool:
        try:
            await self._reconciler.look(RunId(snapshot.ref.id))
        except Exception as error:  # Whatever is wrong with one document, the others have their turn.
            log.error("a due run could not be looked at", run=snapshot.ref.id, detail=str(error), exc_info=True)
            await self._put_off(snapshot)
            return False
        return True

    async def _put_off(self, snapshot: Snapshot) -> None:
        """Move the timer alone, on the document as it is: it may be one that nothing here can read."""
        found = snapshot.data.get("sweep_failures")
        failures = found if isinstance(found, int) else 0
        wait = min(_FIRST_BACK_OFF * 2 ** min(failures, 10), _LONGEST_BACK_OFF)
        moved = {"attention_at": self._clock.now() + wait, "sweep_failures": failures + 1, "nonce": self._ids.token()}
        try:
            await self._store.commit([Replace(snapshot.ref, {**snapshot.data, **moved}, snapshot.version)])
        except PreconditionFailed:
            return  # Somebody changed it meanwhile, and set its timer anew.
        except AnvilError as error:
            log.error("could not be put off", run=snapshot.ref.id, code=error.code, detail=error.detail)
