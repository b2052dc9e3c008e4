"""Operations put together on real stores, for tests that make other systems do things."""

import ssl
from collections.abc import Generator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import timedelta
from ipaddress import IPv4Address
from pathlib import Path

from services.coordinator.audit import Audit
from services.coordinator.layout import INDEXES
from services.coordinator.ledger.documents import indexes
from services.coordinator.ledger.ledger import Ledger
from services.coordinator.operations.catalogue import parse
from services.coordinator.operations.credentials import Credentials
from services.coordinator.operations.model import Catalogue, Operation
from services.coordinator.operations.operations import Deployment, Operations
from services.coordinator.operations.upstream import Caller, HttpCaller
from services.kernel.adapters.sqlite import SqliteStore
from services.kernel.addresses import Address
from services.kernel.namespace import ledger_collection
from services.kernel.wire.audit import AuditEntry, AuditQuery
from services.kernel.wire.operations import Executed, ExecuteOperation
from tests.unit.coordinator.stores import WatchedStore
from tests.unit.kernel.world import CountingIds, MovableClock

ADA = "ada@example.com"
BOB = "bob@example.com"
SHORT = timedelta(milliseconds=300)
"""For attempts that are to time out."""

MODES: Mapping[str, str] = {
    "required": "{mode: required, carrier: {in: header, name: Idempotency-Key}}",
    "key_supported": "{mode: key_supported, carrier: {in: header, name: Idempotency-Key}}",
    "client_id": "{mode: client_id, carrier: {in: body, name: customer}}",
    "natural": "{mode: natural}",
    "none": "{mode: none}",
}
KEYED = ("required", "key_supported")


def declared(mode: str = "required", *, port: int = 8080, more: str = "") -> str:
    """One operation of a catalogue that makes invoices."""
    return f"""\
  - id: make-{mode.replace("_", "-")}
    title: Make an invoice
    approved: true
    upstream: http://billing.test:{port}
    method: POST
    path: /v1/invoices
    input:
      type: object
      additionalProperties: false
      required: [customer]
      properties:
        customer: {{type: string}}
        cents: {{type: integer}}
    idempotency: {MODES[mode]}
    success: [200, 201]
    provesNoEffect: [400, 404, 422]
    timeoutSeconds: 10
{more}"""


def catalogue(*operations: str) -> Catalogue:
    text = "version: 1\noperations:\n" + "".join(operations)
    return parse(text.encode(), replay_ttl=timedelta(days=7), allow_local=True)


def operation(mode: str = "required", *, port: int = 8080, more: str = "") -> Operation:
    (found,) = catalogue(declared(mode, port=port, more=more)).operations.values()
    return found


@dataclass(slots=True)
class Names:
    """Implements `ports.Resolver`: what a test says, answer after answer, the last one for good; counts questions."""

    answers: list[tuple[Address, ...]] = field(default_factory=lambda: [(IPv4Address("127.0.0.1"),)])
    asked: list[str] = field(default_factory=list[str])

    async def resolve(self, host: str) -> tuple[Address, ...]:
        self.asked.append(host)
        return self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]


@dataclass(slots=True, kw_only=True)
class Desk:
    """One instance. `state` and `rows` are the two stores; `ledger` None is a deployment without one."""

    caller: Caller
    names: Names
    state: WatchedStore
    rows: WatchedStore
    ledger: Ledger | None
    clock: MovableClock
    ids: CountingIds
    credentials: Credentials
    environment: str = "dev"

    def operations(self, *offered: Operation) -> Operations:
        """The use case, over these operations."""
        return Operations(
            Catalogue(operations={each.id: each for each in offered}, digest=""),
            deployment=Deployment(service="anvil", environment=self.environment, allow_local=True),
            caller=self.caller,
            credentials=self.credentials,
            ledger=self.ledger,
            trail=Audit(self.state, clock=self.clock, ids=self.ids),
            clock=self.clock,
            ids=self.ids,
        )

    async def execute(self, offered: Operation, asked: ExecuteOperation | None = None) -> Executed:
        return await self.operations(offered).execute(offered.id, asked or ask(offered))

    async def audited(self) -> list[tuple[str | None, str | None]]:
        """Outcome and code of everything in the audit, the newest first."""
        return [(entry.outcome, entry.code) for entry in await self.entries()]

    async def entries(self) -> tuple[AuditEntry, ...]:
        return (await Audit(self.state, clock=self.clock, ids=self.ids).page(AuditQuery())).items

    def away(self) -> None:
        """No store answers any more."""
        self.state.away = self.rows.away = True

    def without_ledger(self) -> "Desk":
        return replace(self, ledger=None)


@contextmanager
def open_desk(folder: Path, *, first_id: int = 0) -> Generator[Desk]:
    """A desk over the stores in this folder; instances that share them count their ids from different numbers."""
    clock, ids, names = MovableClock(), CountingIds(first_id), Names()
    collection = ledger_collection("test")
    with ThreadPoolExecutor(1) as executor:
        state = SqliteStore(folder / "state.sqlite", namespace="test", indexes=INDEXES, executor=executor, clock=clock)
        rows = SqliteStore(
            folder / "ledger.sqlite", namespace="test", indexes=indexes(collection), executor=executor, clock=clock
        )
        watched = WatchedStore(rows)
        yield Desk(
            caller=HttpCaller(names, trust=ssl.create_default_context()),
            names=names,
            state=WatchedStore(state),
            rows=watched,
            ledger=Ledger(watched, collection=collection, durable=True, clock=clock, ids=ids),
            clock=clock,
            ids=ids,
            credentials=Credentials(None),
        )
        rows.close()
        state.close()


def ask(offered: Operation, *, key: str | None = None, actor: str = ADA, customer: str = "c-1") -> ExecuteOperation:
    """A request that passes every gate of this operation."""
    return ExecuteOperation(
        input={"customer": customer},
        confirm=offered.mode == "none",
        idempotency_key=key or ("key-1" if offered.mode in KEYED else None),
        actor=actor,
    )
