"""A ledger on a store that can be made to fail, and what is asked of it. All times begin at noon."""

from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path
from typing import TypeAlias

from services.coordinator.ledger import keys
from services.coordinator.ledger.documents import indexes
from services.coordinator.ledger.ledger import Ledger, Reserved, Wanted
from services.coordinator.ledger.rows import Completed, InProgress, Response
from services.kernel.adapters.clock import SystemClock
from services.kernel.adapters.firestore import FirestoreStore
from services.kernel.adapters.firestore_database import Database
from services.kernel.adapters.sqlite import SqliteStore
from services.kernel.errors import Ambiguous, Transient
from services.kernel.namespace import ledger_collection
from services.kernel.ports import Document, Query, Ref, Snapshot, Store, Version, Write
from tests.unit.kernel.world import NOON, CountingIds, MovableClock

COLLECTION = ledger_collection("test")
INDEXES = indexes(COLLECTION)
MAX_UNTIL = NOON + timedelta(minutes=1)
WEEK = timedelta(days=7)
OK = Response(status=201, result_json='{"invoice":"inv_1"}')


def document(key: str = "order-4711") -> str:
    return keys.document_id(
        service="anvil", environment="test", upstream="https://b.example", profile="billing", key=key
    )


def wanted(*, principal: str = "ada@example.com", amount: int = 12, max_until: datetime = MAX_UNTIL) -> Wanted:
    asked = keys.request_fingerprint(operation="create-invoice", input={"amount": amount}, principal=principal)
    return Wanted(fingerprint=asked, operation_id="create-invoice", trace_id="t" * 32, max_until=max_until)


Fate: TypeAlias = str | Transient | Callable[[], Awaitable[object]]
"""`ok`; `lost`: applied, and the answer lost; `dropped`: not applied, and the answer lost; an error: that, at once;
else what others do right before."""


@dataclass(slots=True)
class Line:
    """Implements `ports.Store`. `commits` and `reads`: what becomes of those to come, in order; then all goes well."""

    store: Store
    commits: list[Fate] = field(default_factory=list[Fate])
    reads: list[Fate] = field(default_factory=list[Fate])
    tried: list[Sequence[Write]] = field(default_factory=list[Sequence[Write]])
    masks: list[Sequence[str] | None] = field(default_factory=list[Sequence[str] | None])
    queries: list[Query] = field(default_factory=list[Query])

    async def get(self, refs: Sequence[Ref], *, fields: Sequence[str] | None = None) -> list[Snapshot | None]:
        self.masks.append(fields)
        await _meet(self.reads)
        return await self.store.get(refs, fields=fields)

    async def commit(self, writes: Sequence[Write]) -> list[Version]:
        self.tried.append(writes)
        fate = await _meet(self.commits)
        versions = [] if fate == "dropped" else await self.store.commit(writes)
        if fate in {"lost", "dropped"}:
            raise Ambiguous("the answer was lost")
        return versions

    async def query(self, query: Query) -> list[Snapshot]:
        self.queries.append(query)
        await _meet(self.reads)
        return await self.store.query(query)


async def _meet(fates: list[Fate]) -> str:
    fate = fates.pop(0) if fates else "ok"
    match fate:
        case str():
            return fate
        case Transient():
            raise fate
        case meanwhile:
            await meanwhile()
            return "ok"


@dataclass(slots=True, kw_only=True)
class Shelf:
    """`line` is what the ledger has; `store` what is true."""

    store: Store
    line: Line
    ledger: Ledger
    clock: MovableClock
    ids: CountingIds

    def another(self) -> Ledger:
        """The same ledger in another process, with a line of its own that does not fail."""
        return Ledger(self.store, collection=COLLECTION, durable=True, clock=self.clock, ids=self.ids)

    async def reserved(self, key: str = "order-4711") -> Reserved:
        """A reservation that succeeds."""
        taken = await self.ledger.reserve(document(key), wanted())
        assert isinstance(taken, Reserved)
        return taken

    async def raw(self, key: str = "order-4711") -> Document | None:
        """The document itself."""
        (snapshot,) = await self.store.get([Ref(COLLECTION, document(key))])
        return None if snapshot is None else snapshot.data


def shelf(store: Store) -> Shelf:
    clock, ids, line = MovableClock(), CountingIds(), Line(store)
    ledger = Ledger(line, collection=COLLECTION, durable=True, clock=clock, ids=ids)
    return Shelf(store=store, line=line, ledger=ledger, clock=clock, ids=ids)


@asynccontextmanager
async def on_sqlite(path: Path) -> AsyncGenerator[Store]:
    with ThreadPoolExecutor(4) as executor:
        store = SqliteStore(path, namespace="test", indexes=INDEXES, executor=executor, clock=SystemClock())
        yield store
        store.close()


@asynccontextmanager
async def on_firestore(database: Database) -> AsyncGenerator[Store]:
    store = FirestoreStore(database, namespace="test", indexes=INDEXES, clock=SystemClock())
    yield store
    await store.close()


def in_progress(*, reservation_id: str = "mine", fingerprint: str = "f" * 64) -> InProgress:
    return InProgress(
        fingerprint=fingerprint,
        reservation_id=reservation_id,
        operation_id="create-invoice",
        trace_id=None,
        started_at=NOON,
        max_until=MAX_UNTIL,
    )


def completed(*, reservation_id: str = "mine", fingerprint: str = "f" * 64, completion_id: str = "done") -> Completed:
    return Completed(
        fingerprint=fingerprint,
        reservation_id=reservation_id,
        operation_id="create-invoice",
        trace_id=None,
        started_at=NOON,
        max_until=MAX_UNTIL,
        completion_id=completion_id,
        response_status=201,
        result_json='{"invoice":"inv_1"}',
        expires_at=NOON + WEEK,
    )
