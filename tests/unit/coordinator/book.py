"""A coordinator with a ledger, and what operators ask of it."""

from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import timedelta

from pydantic import JsonValue

from services.coordinator.ledger.backend import Backend
from services.coordinator.ledger.documents import indexes
from services.coordinator.ledger.ledger import Ledger, Reserved, Wanted
from services.coordinator.ledger.rows import Response
from services.coordinator.operations.catalogue import parse
from services.coordinator.operations.model import Catalogue
from services.coordinator.operations.upstream import Caller
from services.kernel.adapters.sqlite import SqliteStore
from services.kernel.namespace import ledger_collection
from services.kernel.wire import internal
from services.kernel.wire.audit import AuditEntry, AuditQuery
from services.kernel.wire.ledger import (
    CompleteRowAs,
    LedgerQuery,
    LedgerRow,
    LedgerRowView,
    NoteAs,
    ReleaseRowAs,
    Settled,
    SettledResponse,
)
from tests.unit.coordinator.driver import ADA, Driver
from tests.unit.coordinator.instance import Place, instance
from tests.unit.coordinator.stores import WatchedStore

COLLECTION = ledger_collection("test")
EVIDENCE = "e" * 64
LONGEST = timedelta(seconds=40)
"""From a reservation to its `max_until`."""
TTL = timedelta(seconds=600)

CATALOGUE = b"""\
version: 1
operations:
  - id: make-invoice
    title: Make an invoice
    approved: true
    upstream: https://billing.example.com
    method: POST
    path: /v1/invoices
    input: {type: object}
    idempotency: {mode: required, carrier: {in: header, name: Idempotency-Key}}
    success: [201]
    timeoutSeconds: 10
    replayTtlSeconds: 600
    redact: [/token]
"""


def document(number: int) -> str:
    return f"{number:064x}"


def audit_id(number: int) -> str:
    return f"aud_{number:022}"


@dataclass(slots=True, kw_only=True)
class Book:
    """`rows` is the ledger's store, `ledger` the ledger as an execution has it; acts are numbered."""

    anvil: Driver
    rows: WatchedStore
    ledger: Ledger
    acts: int = 0

    async def reserve(self, number: int = 1, *, operation: str = "make-invoice") -> Reserved:
        """A row whose outcome nobody knows."""
        until = self.anvil.instance.clock.now() + LONGEST
        wanted = Wanted(fingerprint="f" * 64, operation_id=operation, trace_id="t" * 32, max_until=until)
        reserved = await self.ledger.reserve(document(number), wanted)
        assert isinstance(reserved, Reserved)
        return reserved

    async def unknown(self, number: int = 1, *, operation: str = "make-invoice") -> str:
        """Such a row, whose attempts have surely ended; its version."""
        reserved = await self.reserve(number, operation=operation)
        self.anvil.instance.clock.move(LONGEST + timedelta(seconds=1))
        return reserved.version

    async def answered(self, number: int = 1) -> str:
        """A row that its own execution completed; its version."""
        await self.ledger.complete(await self.reserve(number), Response(status=201, result_json='{"id":1}'), ttl=TTL)
        return (await self.show(number)).version

    async def complete(
        self, version: str, body: JsonValue, *, number: int = 1, status: int = 201, act: int | None = None
    ) -> Settled:
        asked = CompleteRowAs(
            response=SettledResponse(status=status, body=body),
            evidence_sha256=EVIDENCE,
            reason="it is in the export",
            if_version=version,
            audit_id=self._act(act),
            actor=ADA,
        )
        return await self.anvil.console.call(internal.COMPLETE_LEDGER_ROW, path=_row(number), body=asked)

    async def release(self, version: str, *, number: int = 1, act: int | None = None) -> Settled:
        asked = ReleaseRowAs(
            evidence_sha256=EVIDENCE,
            reason="it is not in the export",
            if_version=version,
            audit_id=self._act(act),
            actor=ADA,
        )
        return await self.anvil.console.call(internal.RELEASE_LEDGER_ROW, path=_row(number), body=asked)

    async def note(self, version: str, *, number: int = 1, act: int | None = None) -> Settled:
        asked = NoteAs(reason="asked them", if_version=version, audit_id=self._act(act), actor=ADA)
        return await self.anvil.console.call(internal.NOTE_LEDGER_ROW, path=_row(number), body=asked)

    async def show(self, number: int = 1) -> LedgerRowView:
        return await self.anvil.console.call(internal.GET_LEDGER_ROW, path=_row(number))

    async def listed(self, query: LedgerQuery | None = None) -> tuple[LedgerRow, ...]:
        return (await self.anvil.console.call(internal.LIST_LEDGER, body=query or LedgerQuery())).items

    async def history(self, number: int = 1) -> list[tuple[str, str | None, str | None]]:
        """Act, outcome and code of everything that was done about a row, the newest first."""
        return [(entry.act, entry.outcome, entry.code) for entry in await self.entries(number)]

    async def entries(self, number: int = 1) -> tuple[AuditEntry, ...]:
        query = AuditQuery(target=self.ledger.reference(document(number)))
        return (await self.anvil.console.call(internal.LIST_AUDIT, body=query)).items

    def _act(self, number: int | None) -> str:
        """A fresh id, or that of an act that is tried again."""
        if number is not None:
            return audit_id(number)
        self.acts += 1
        return audit_id(900 + self.acts)


def _row(number: int) -> dict[str, str]:
    return {"collection": COLLECTION, "document": document(number)}


@asynccontextmanager
async def book(
    place: Place, *, operations: Catalogue | None = None, upstream: Caller | None = None
) -> AsyncGenerator[Book]:
    """With one operation that calls nowhere, unless others are given."""
    path = place.folder / "ledger.sqlite"
    sqlite = SqliteStore(
        path, namespace="test", indexes=indexes(COLLECTION), executor=place.executor, clock=place.clock
    )

    async def closed() -> None:
        sqlite.close()

    rows = WatchedStore(sqlite)
    backend = Backend(name="sqlite", store=rows, durable=True, close=closed)
    known = operations or parse(CATALOGUE, replay_ttl=TTL, allow_local=False)
    async with instance(place, ledger=backend, operations=known, upstream=upstream) as made:
        ledger = backend.ledger(namespace="test", clock=place.clock, ids=place.ids)
        yield Book(anvil=Driver(made), rows=rows, ledger=ledger)
    sqlite.close()


Verdict = Callable[[Book, str], Awaitable[object]]

VERDICTS: dict[str, Verdict] = {
    "it happened": lambda desk, version: desk.complete(version, {"id": 1}),
    "it did not": lambda desk, version: desk.release(version),
}
