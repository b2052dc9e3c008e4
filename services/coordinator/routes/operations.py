"""What the console asks about approved operations, the ledger behind them and the audit."""

from dataclasses import dataclass

from services.coordinator.audit import Audit
from services.coordinator.operations.operations import Operations
from services.coordinator.verdicts import Verdicts
from services.kernel.web import Call, Served, route
from services.kernel.wire import audit as audit_wire
from services.kernel.wire import internal
from services.kernel.wire import ledger as ledger_wire
from services.kernel.wire import operations as wire
from services.kernel.wire.model import Empty, Page, PageQuery


@dataclass(frozen=True, slots=True, kw_only=True)
class OperationsRoutes:
    operations: Operations
    verdicts: Verdicts
    audit: Audit

    def served(self) -> list[Served]:
        return [
            route(internal.LIST_OPERATIONS, self._list_operations),
            route(internal.EXECUTE_OPERATION, self._execute),
            route(internal.LIST_LEDGER, self._list_ledger),
            route(internal.GET_LEDGER_ROW, self._get_row),
            route(internal.COMPLETE_LEDGER_ROW, self._complete),
            route(internal.RELEASE_LEDGER_ROW, self._release),
            route(internal.NOTE_LEDGER_ROW, self._note),
            route(internal.LIST_AUDIT, self._list_audit),
        ]

    async def _list_operations(self, call: Call[PageQuery]) -> Page[wire.Operation]:
        return await self.operations.page(call.body)

    async def _execute(self, call: Call[wire.ExecuteOperation]) -> wire.Executed:
        return await self.operations.execute(call.path["operation"], call.body)

    async def _list_ledger(self, call: Call[ledger_wire.LedgerQuery]) -> Page[ledger_wire.LedgerRow]:
        return await self.verdicts.page(call.body)

    async def _get_row(self, call: Call[Empty]) -> ledger_wire.LedgerRowView:
        return await self.verdicts.show(call.path["collection"], call.path["document"])

    async def _complete(self, call: Call[ledger_wire.CompleteRowAs]) -> ledger_wire.Settled:
        return await self.verdicts.complete(call.path["collection"], call.path["document"], call.body)

    async def _release(self, call: Call[ledger_wire.ReleaseRowAs]) -> ledger_wire.Settled:
        return await self.verdicts.release(call.path["collection"], call.path["document"], call.body)

    async def _note(self, call: Call[ledger_wire.NoteAs]) -> ledger_wire.Settled:
        return await self.verdicts.note(call.path["collection"], call.path["document"], call.body)

    async def _list_audit(self, call: Call[audit_wire.AuditQuery]) -> Page[audit_wire.AuditEntry]:
        return await self.audit.page(call.body)
