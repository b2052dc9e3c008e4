"""Rows as documents of the ledger's collection, and as much of them as people may see."""

from dataclasses import dataclass, fields
from datetime import datetime
from typing import Final

from services.coordinator.ledger import keys
from services.coordinator.ledger.rows import Completed, InProgress, Put, Remove, Row
from services.coordinator.records.table import Held, Table, UnknownSchema
from services.kernel.errors import LedgerUnavailable
from services.kernel.ports import Create, Delete, Document, Ids, Index, Order, Ref, Replace, Snapshot, Write
from services.kernel.wire.ledger import LedgerRow, RowStatus

SCHEMA: Final = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Glance:
    """A row without what nobody needs to see: no result is read for it."""

    status: RowStatus
    fingerprint: str
    operation_id: str
    trace_id: str | None
    started_at: datetime
    max_until: datetime
    response_status: int | None = None
    result_bytes: int | None = None
    expires_at: datetime | None = None


MASK: Final = ("schema", *(field.name for field in fields(Glance)))


def indexes(collection: str) -> tuple[Index, ...]:
    """The queries that are asked of a ledger: newest first, of all rows or of one status."""
    newest = (Order("started_at", descending=True),)
    return (
        Index(collection=collection, order=newest),
        Index(collection=collection, equal=frozenset({"status"}), order=newest),
    )


def _in_progress(row: InProgress) -> Document:
    return {"status": RowStatus.IN_PROGRESS.value}


def _completed(row: Completed) -> Document:
    return {"status": RowStatus.COMPLETED.value, "result_bytes": len(row.result_json.encode())}


class Documents:
    """One collection's."""

    def __init__(self, collection: str, *, ids: Ids) -> None:
        self.collection = collection
        self._ids = ids
        self._in_progress = Table(collection, InProgress, schema=SCHEMA, derived=_in_progress)
        self._completed = Table(collection, Completed, schema=SCHEMA, derived=_completed)
        self._glances = Table(collection, Glance, schema=SCHEMA)

    def ref(self, document: str) -> Ref:
        return Ref(self.collection, document)

    def write(self, document: str, step: Put | Remove) -> Write:
        ref = self.ref(document)
        match step:
            case Remove(at=at):
                return Delete(ref, at)
            case Put(row=row, at=at):
                data = self._dump(row)
                return Create(ref, data) if at is None else Replace(ref, data, at)

    def load(self, snapshot: Snapshot | None) -> Held[Row] | None:
        """
        Raises:
            LedgerUnavailable: this release does not know what is in the row, and so must not go past it.
        """
        if snapshot is None:
            return None
        try:
            if snapshot.data.get("status") == RowStatus.COMPLETED:
                return _held(self._completed.load(snapshot))
            return _held(self._in_progress.load(snapshot))
        except UnknownSchema as error:
            raise LedgerUnavailable(str(error)) from error

    def show(self, snapshot: Snapshot) -> LedgerRow:
        """What people see of a row, which may have been read under the mask.

        Raises:
            LedgerUnavailable: this release does not know what is in the row.
        """
        try:
            return self.glance(snapshot)
        except UnknownSchema as error:
            raise LedgerUnavailable(str(error)) from error

    def glance(self, snapshot: Snapshot) -> LedgerRow:
        """As `show`, for one of many.

        Raises:
            UnknownSchema: this release does not know what is in the row.
        """
        held = self._glances.load(snapshot)
        row = held.value
        return LedgerRow(
            ledger_ref=keys.reference(self.collection, snapshot.ref.id),
            status=row.status,
            version=held.version,
            operation=row.operation_id,
            trace_id=row.trace_id,
            fingerprint=row.fingerprint[:12],
            started_at=row.started_at,
            max_until=row.max_until,
            response_status=row.response_status,
            result_bytes=row.result_bytes,
            expires_at=row.expires_at,
        )

    def _dump(self, row: Row) -> Document:
        match row:
            case InProgress():
                return self._in_progress.dump(row, ids=self._ids)
            case Completed():
                return self._completed.dump(row, ids=self._ids)


def _held(held: Held[InProgress] | Held[Completed]) -> Held[Row]:
    return Held(held.value, held.version)
