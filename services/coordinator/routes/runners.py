"""What an attempt at a run asks."""

from dataclasses import dataclass

from services.coordinator.attempts import Attempts
from services.coordinator.logs import Logs
from services.kernel.ids import RunId
from services.kernel.web import Call, Served, route
from services.kernel.wire import internal
from services.kernel.wire import runs as wire
from services.kernel.wire.model import Empty


@dataclass(frozen=True, slots=True, kw_only=True)
class RunnersRoutes:
    attempts: Attempts
    logs: Logs

    def served(self) -> list[Served]:
        return [
            route(internal.CLAIM, self._claim),
            route(internal.START, self._start),
            route(internal.HEARTBEAT, self._heartbeat),
            route(internal.APPEND_LOG, self._append_log),
            route(internal.REPORT, self._report),
            route(internal.COMPLETE, self._complete),
        ]

    async def _claim(self, call: Call[wire.Claim]) -> wire.ClaimAnswer:
        return await self.attempts.claim(RunId(call.path["run"]), call.body)

    async def _start(self, call: Call[wire.Start]) -> wire.Orders:
        return await self.attempts.start(RunId(call.path["run"]), call.body)

    async def _heartbeat(self, call: Call[wire.Heartbeat]) -> wire.Orders:
        return await self.attempts.heartbeat(RunId(call.path["run"]), call.body)

    async def _append_log(self, call: Call[wire.AppendLog]) -> Empty:
        await self.logs.append(RunId(call.path["run"]), call.body)
        return Empty()

    async def _report(self, call: Call[wire.Report]) -> Empty:
        await self.attempts.report(RunId(call.path["run"]), call.body)
        return Empty()

    async def _complete(self, call: Call[wire.Complete]) -> Empty:
        await self.attempts.complete(RunId(call.path["run"]), call.body)
        return Empty()
