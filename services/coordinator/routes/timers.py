"""What tasks and the scheduler post."""

from dataclasses import dataclass

from services.coordinator.reconcile import Reconciler
from services.coordinator.sweep import Sweeper
from services.kernel.ids import RunId
from services.kernel.web import Call, Served, route
from services.kernel.wire import internal
from services.kernel.wire import runs as wire
from services.kernel.wire.model import Empty


@dataclass(frozen=True, slots=True, kw_only=True)
class TimersRoutes:
    reconciler: Reconciler
    sweeper: Sweeper

    def served(self) -> list[Served]:
        return [route(internal.RECONCILE, self._reconcile), route(internal.SWEEP, self._sweep)]

    async def _reconcile(self, call: Call[wire.ReconcileTask]) -> Empty:
        await self.reconciler.look(RunId(call.body.run))
        return Empty()

    async def _sweep(self, call: Call[Empty]) -> wire.Swept:
        return await self.sweeper.sweep()
