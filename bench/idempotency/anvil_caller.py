"""One call on Anvil's side, as a process of its own: an order on the command line, a finding on stdout.

The production executor and ledger, over the embedded store in a file that all callers share.
"""

import asyncio
import json
import os
import signal
import ssl
import sys
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from datetime import datetime, timedelta
from pathlib import Path

from bench.idempotency.side import Found, Order
from services.coordinator.ledger import keys
from services.coordinator.ledger.backend import opening
from services.coordinator.ledger.ledger import Ledger
from services.coordinator.ledger.rows import Response
from services.coordinator.operations import catalogue
from services.coordinator.operations.credentials import Credentials
from services.coordinator.operations.operations import Deployment, Operations
from services.coordinator.operations.outcome import Attempt
from services.coordinator.operations.request import Outbound
from services.coordinator.operations.upstream import HttpCaller
from services.kernel.adapters.clock import SystemClock, SystemIds
from services.kernel.adapters.resolver import SystemResolver
from services.kernel.adapters.sqlite import SqliteStore
from services.kernel.addresses import Address
from services.kernel.errors import (
    Ambiguous,
    AnvilError,
    IdempotencyInProgress,
    IdempotencyKeyReused,
    OutcomeUnknown,
    StaleVersion,
)
from services.kernel.ids import AuditId
from services.kernel.namespace import ledger_collection
from services.kernel.ports import Clock, Create, Query, Ref, Replace, Snapshot, Store, Version, Write
from services.kernel.wire.audit import Act, AuditOutcome
from services.kernel.wire.operations import ExecuteOperation

NAMESPACE = "comparison"
_LOST = {"create": Create, "complete": Replace}


@dataclass(frozen=True, slots=True)
class Ahead:
    """A clock that is ahead. Implements `ports.Clock`."""

    of: Clock
    by: timedelta

    def now(self) -> datetime:
        return self.of.now() + self.by

    def elapsed(self) -> timedelta:
        return self.of.elapsed()

    async def sleep(self, duration: timedelta) -> None:
        await self.of.sleep(duration)


@dataclass(slots=True)
class Losing:
    """A store that applies the first write of a kind and does not answer. Implements `ports.Store`."""

    store: Store
    loses: str

    async def get(self, refs: Sequence[Ref], *, fields: Sequence[str] | None = None) -> list[Snapshot | None]:
        return await self.store.get(refs, fields=fields)

    async def commit(self, writes: Sequence[Write]) -> list[Version]:
        versions = await self.store.commit(writes)
        if self.loses and isinstance(writes[0], _LOST[self.loses]):
            self.loses = ""
            raise Ambiguous
        return versions

    async def query(self, query: Query) -> list[Snapshot]:
        return await self.store.query(query)


@dataclass(frozen=True, slots=True)
class Struck:
    """Calls, and then dies or stops as the order says. Implements `upstream.Caller`."""

    caller: HttpCaller
    order: Order

    async def resolve(self, host: str | Address) -> Sequence[Address]:
        return await self.caller.resolve(host)

    async def call(
        self, request: Outbound, found: Sequence[Address], *, within: timedelta, leaving: Callable[[], None]
    ) -> Attempt:
        attempt = await self.caller.call(request, found, within=within, leaving=leaving)
        if self.order.dies:
            os._exit(9)
        if self.order.stops:
            os.kill(os.getpid(), signal.SIGSTOP)
        return attempt


class NoTrail:
    """The comparison has no audit. Implements `trail.Trail`."""

    async def intend(self, actor: str, act: Act, target: str) -> AuditId:
        return AuditId("")

    async def conclude(self, audit_id: AuditId, outcome: AuditOutcome, code: str | None = None) -> None:
        return


def declared(upstream: str, order: Order) -> str:
    """The one operation, as a catalogue."""
    return f"""
version: 1
operations:
  - id: charge
    title: Charge somebody
    approved: true
    upstream: {upstream}
    method: POST
    path: /charge
    input: {{type: object, properties: {{payer: {{type: string}}}}, required: [payer], additionalProperties: false}}
    idempotency: {{mode: required, carrier: {{in: header, name: Idempotency-Key}}}}
    success: [201]
    timeoutSeconds: {max(1, round(order.lease))}
    attempts: 1
    replayTtlSeconds: {order.keep}
"""


async def call(order: Order, operations: Operations, ledger: Ledger, document: str) -> Found:
    asked = ExecuteOperation(input={"payer": order.payer}, idempotency_key=order.key, actor=order.payer)
    try:
        executed = await operations.execute("charge", asked)
    except IdempotencyKeyReused:
        return Found(got="conflict")
    except IdempotencyInProgress:
        return Found(got="in progress", version=(await ledger.read(document)).version)
    except OutcomeUnknown:
        return Found(got="outcome unknown", version=(await ledger.read(document)).version)
    except AnvilError as error:
        return Found(got=f"an error ({type(error).__name__})")
    result = executed.result
    assert isinstance(result, dict)
    got = "replayed" if executed.replayed else "executed"
    return Found(got=got, number=int(str(result["number"])), payer=str(result["payer"]))


async def settle(order: Order, ledger: Ledger, document: str) -> Found:
    at = Version(order.if_version)
    answer = Response(status=201, result_json=json.dumps({"number": 1, "payer": order.payer}))
    try:
        if order.verb == "release":
            await ledger.settle_release(document, at)
        else:
            await ledger.settle_complete(document, at, answer, ttl=timedelta(seconds=order.keep))
    except StaleVersion:
        return Found(got="refused as stale")
    except AnvilError as error:
        return Found(got=f"an error ({type(error).__name__})")
    return Found(got="applied")


async def main(order: Order, *, upstream: str, file: Path) -> Found:
    clock, ids = Ahead(SystemClock(), timedelta(seconds=order.later)), SystemIds()
    told = opening(environment="dev", namespace=NAMESPACE, clock=clock, variables={})
    with ThreadPoolExecutor(max_workers=1) as executor:
        store = SqliteStore(file, namespace=NAMESPACE, indexes=told.indexes, executor=executor, clock=clock)
        losing = Losing(store, order.loses)
        ledger = Ledger(losing, collection=ledger_collection(NAMESPACE), durable=True, clock=clock, ids=ids)
        operations = Operations(
            catalogue=catalogue.parse(
                declared(upstream, order).encode(), replay_ttl=timedelta(days=7), allow_local=True
            ),
            deployment=Deployment(service="anvil", environment="dev", allow_local=True),
            caller=Struck(HttpCaller(SystemResolver(), trust=ssl.create_default_context()), order),
            credentials=Credentials(None),
            ledger=ledger,
            trail=NoTrail(),
            clock=clock,
            ids=ids,
        )
        document = keys.document_id(service="anvil", environment="dev", upstream=upstream, profile=None, key=order.key)
        if order.verb == "call":
            return await call(order, operations, ledger, document)
        return await settle(order, ledger, document)


if __name__ == "__main__":
    given = json.loads(sys.argv[1])
    upstream, file = given.pop("upstream"), Path(given.pop("store"))
    found = asyncio.run(main(Order(**given), upstream=upstream, file=file))
    sys.stdout.write(json.dumps(asdict(found)) + "\n")
