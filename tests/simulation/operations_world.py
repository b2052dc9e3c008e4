"""A world in which operations are executed: a ledger in a database of its own, and another system with books."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import timedelta
from functools import cached_property

from services.coordinator.app import World as Surroundings
from services.coordinator.ledger.backend import Backend
from services.coordinator.ledger.documents import Documents, indexes
from services.coordinator.ledger.rows import Completed, InProgress, Row
from services.coordinator.operations.catalogue import parse
from services.coordinator.records.audit import AUDIT
from services.coordinator.settings import CoordinatorSettings
from services.kernel.adapters.sqlite import SqliteStore
from services.kernel.errors import Ambiguous, PreconditionFailed
from services.kernel.namespace import ledger_collection
from services.kernel.ports import Create, Delete, Replace, Snapshot, Version, Write
from services.kernel.wire.ledger import LedgerRow
from tests.simulation.invariants import ledger
from tests.simulation.invariants.ledger import CREDENTIAL, KEY, Intent, LedgerStep, Witness
from tests.simulation.ledger_history import History
from tests.simulation.node import Issuer
from tests.simulation.operations_upstream import SECRET, Books, Execution, Upstream, executing
from tests.simulation.ports import Inline, InMemory, Life
from tests.simulation.process import asking
from tests.simulation.profile import Profile
from tests.simulation.stores import FaultyStore
from tests.simulation.world import World

COLLECTION = ledger_collection("test")
TTL = timedelta(hours=1)

_DECLARED = """\
version: 1
operations:
  - id: make-invoice
    title: Make an invoice, which is made again for each call
    approved: true
    upstream: https://billing.example.com
    method: POST
    path: /invoices
    input: {type: object, additionalProperties: false, properties: {number: {type: integer}}}
    idempotency: {mode: required, carrier: {in: header, name: Idempotency-Key}}
    credential: {profile: billing, header: Authorization, scheme: Bearer}
    success: [201]
    provesNoEffect: [422]
    timeoutSeconds: 10
    attempts: 1
    replayTtlSeconds: 3600
    redact: [/token]
  - id: send-order
    title: Send an order, which is sent once for a key
    approved: true
    upstream: https://orders.example.com
    method: POST
    path: /orders
    input: {type: object, additionalProperties: false, properties: {number: {type: integer}}}
    idempotency: {mode: required, carrier: {in: body, name: key}}
    success: [201]
    provesNoEffect: [422]
    timeoutSeconds: 10
    attempts: 3
    replayTtlSeconds: 3600
    redact: [/token]
"""

CATALOGUE = parse(_DECLARED.encode(), replay_ttl=TTL, allow_local=False)
INVOICE, ORDER = "make-invoice", "send-order"


@dataclass(slots=True, kw_only=True)
class LedgerStore(FaultyStore):
    """Notes which execution does not know whether it has reserved."""

    async def commit(self, writes: Sequence[Write]) -> list[Version]:
        # Not `super()`: a dataclass with slots is another class than the one that this is written in.
        try:
            return await FaultyStore.commit(self, writes)
        except Ambiguous:
            execution = executing.get()
            if execution is not None and any(isinstance(each, Create) for each in writes):
                execution.doubted = True
            raise


class OperationsWorld(World):
    """`rows` is what the ledger holds, `seen` how operators saw rows of it, perhaps long ago.

    `answered` is told of each process to which the other system has just answered.
    """

    def __init__(
        self, issuer: Issuer, *, seed: int = 0, nodes: int = 2, gates: int = 1, profile: Profile | None = None
    ) -> None:
        self.rows: Mapping[str, Row] = {}
        self.books = Books(now=lambda: self.clock.now(), called=self._called)
        self.witness = Witness(books=self.books)
        self.executions: list[Execution] = []
        self.seen: list[LedgerRow] = []
        self.history = History(books=self.books, elapsed=lambda: self.clock.elapsed())
        self.answered: Callable[[Life], None] = _goes_on
        self.credentials = issuer.folder / "credentials"
        self.credentials.mkdir(exist_ok=True)
        (self.credentials / "billing").write_text(f"{CREDENTIAL}-of-billing\n")
        super().__init__(issuer, seed=seed, nodes=nodes, gates=gates, profile=profile)

    @cached_property
    def ledger_store(self) -> SqliteStore:
        return SqliteStore(
            InMemory(self.issuer.folder / "ledger"),
            namespace="test",
            indexes=indexes(COLLECTION),
            executor=Inline(),
            clock=self.clock,
        )

    @cached_property
    def documents(self) -> Documents:
        return Documents(COLLECTION, ids=self.ids)

    def close(self) -> None:
        super().close()
        self.ledger_store.close()

    def reach(self, state: str, *, when: bool = True) -> None:
        if when:
            self.testimony.reached[state] += 1

    def in_progress(self) -> dict[str, InProgress]:
        return {document: row for document, row in self.rows.items() if isinstance(row, InProgress)}

    async def delete_expired(self) -> int:
        """What the database's own TTL does, some time after a row has expired."""
        expired = [
            document
            for document, row in self.rows.items()
            if isinstance(row, Completed) and row.expired(self.clock.now())
        ]
        for document in expired:
            found = (await self.ledger_store.get([self.documents.ref(document)]))[0]
            if found is not None:
                writes = [Delete(found.ref, found.version)]
                with suppress(PreconditionFailed):
                    await self.ledger_store.commit(writes)
                    self._kept(writes, by_itself=True)
        self.reach("an expired row, deleted", when=bool(expired))
        return len(expired)

    def _settings(self) -> CoordinatorSettings:
        return super()._settings().model_copy(update={"credentials_dir": self.credentials})

    def _surroundings(self, life: Life) -> Surroundings:
        store = LedgerStore(
            truth=self.ledger_store,
            life=life,
            weather=self.weather,
            committed=self._kept,
            reached=self.testimony.reached,
        )
        upstream = Upstream(
            books=self.books, life=life, weather=self.weather, late=self._late, answered=lambda: self.answered(life)
        )
        backend = Backend(name="simulated", store=store, durable=True, close=_nothing)
        return replace(super()._surroundings(life), ledger=backend, catalogue=CATALOGUE, upstream=upstream)

    def _called(self, document: str) -> str | None:
        """The reservation under which a call arrives, which must be the caller's own."""
        row = self.rows.get(document)
        self._wrong(ledger.called(document, row, at=self.clock.now(), by=asking.get(), witness=self.witness))
        execution = executing.get()
        self.reach("an ambiguous reservation, found to be one's own", when=execution is not None and execution.doubted)
        return None if row is None else row.reservation_id

    def _late(self) -> None:
        self.reach("a call that was too late, and not made")

    def _kept(self, writes: Sequence[Write], *, by_itself: bool = False) -> None:
        before, self.rows = self.rows, {**self.rows}
        for write in writes:
            match write:
                case Create(ref=ref, data=data) | Replace(ref=ref, data=data):
                    held = self.documents.load(Snapshot(ref=ref, version=Version("0"), data=data))
                    if held is not None:
                        self.rows[ref.id] = held.value
                case Delete(ref=ref):
                    self.rows.pop(ref.id, None)
        by = None if by_itself else asking.get()
        step = LedgerStep(
            before=before, after=self.rows, writes=writes, at=self.clock.now(), by=by, witness=self.witness
        )
        for document, row, was in step.reserved():
            self.witness.owners[row.reservation_id] = by, executing.get()
            self.reach("an expired row, taken over", when=was is not None)
            if (execution := executing.get()) is not None:
                execution.reservations.append(row.reservation_id)
                self.history.keys[document] = execution.operation, execution.key
        if step.is_verdict:
            self.witness.settled.update(was.reservation_id for _, was, _ in step.ended())
        self._wrong(ledger.check(step))
        self._wrong(ledger.acted(self.books))

    def _committed(self, writes: Sequence[Write]) -> None:
        for write in writes:
            if write.ref.collection == AUDIT.collection and isinstance(write, Create):
                entry = AUDIT.load(Snapshot(ref=write.ref, version=Version("0"), data=write.data)).value
                self.witness.intents.append(Intent(act=entry.act, target=entry.target, by=asking.get()))
            text = repr(write)
            self._wrong(f"I5: {write.ref} has {secret}" for secret in (KEY, CREDENTIAL, SECRET) if secret in text)
        super()._committed(writes)

    def _wrong(self, found: Iterable[str]) -> None:
        self.violations += [each for each in found if each not in self.violations]


def _goes_on(life: Life) -> None:
    """Nothing happens to a process when the other system answers."""


async def _nothing() -> None:
    """The store is the world's."""
