"""Two instances of every service on one Firestore, another system, and callers who all have one key."""

import asyncio
import hashlib
import json
import sys
from collections import Counter
from collections.abc import AsyncGenerator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

import httpx2

from services.kernel.adapters.clock import SystemClock
from services.kernel.adapters.local_minter import LocalMinter
from services.kernel.client import Client
from services.kernel.errors import AnvilError, AttemptRunning, StaleVersion, Transient
from services.kernel.wire import api
from services.kernel.wire import ledger as wire
from services.kernel.wire.operations import Execute
from services.local import addresses, identities, state
from services.local.addresses import Service
from services.local.cloud import stack
from services.local.cloud.stack import CloudStack
from tests.e2e.ledger import books
from tests.unit.local.reports import Reports

KEY, CREDENTIAL, ANSWER = "canary-key-", "canary-credential", "canary-answer"
PRINCIPAL = "admin@anvil.local"
EVIDENCE = hashlib.sha256(b"the books").hexdigest()
WAIT = 90.0

_DECLARED = """\
version: 1
operations:
  - id: make-invoice
    title: Make an invoice
    approved: true
    upstream: http://127.0.0.1:{port}
    method: POST
    path: /invoices
    input: {{type: object, additionalProperties: false, properties: {{}}}}
    idempotency: {{mode: required, carrier: {{in: header, name: Idempotency-Key}}}}
    credential: {{profile: billing, header: Authorization, scheme: Bearer}}
    success: [201]
    provesNoEffect: [422]
    timeoutSeconds: 3
    attempts: 1
    redact: [/token]
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Scene:
    """`doors` are the ingresses, each with a client of its own; `told` are all error bodies and replays."""

    running: CloudStack
    reports: Reports
    doors: Sequence[Client]
    http: httpx2.AsyncClient
    port: int
    file: Path
    told: list[str] = field(default_factory=list[str])

    async def answers(self, how: str) -> None:
        (await self.http.put(f"http://127.0.0.1:{self.port}/answers", content=how)).raise_for_status()

    def effects(self) -> list[str]:
        return self.file.read_text().split() if self.file.exists() else []

    async def more_than(self, before: int) -> None:
        """Wait for another effect."""
        async with asyncio.timeout(WAIT):
            while True:
                if len(self.effects()) > before:
                    return
                await asyncio.sleep(0.02)

    async def call(self, key: str, *, door: int = 0) -> tuple[str, str | None]:
        """What one caller is told, in a word, and the row that is named."""
        try:
            executed = await self.doors[door].call(
                api.EXECUTE_OPERATION,
                path={"operation": "make-invoice"},
                body=Execute(input={}),
                headers={"Idempotency-Key": f"{KEY}{key}"},
            )
        except AnvilError as error:
            self.told.append(f"{error.detail} {error.fields} {error.ledger_ref}")
            return error.code, error.ledger_ref
        if executed.replayed:
            self.told.append(json.dumps(executed.result))
        return "replayed" if executed.replayed else str(executed.status), None

    async def calls(self, key: str, *, number: int) -> tuple[Counter[str], str | None]:
        """Many at once, at both ingresses in turn: how often each answer, and the row that is named, if one is."""
        answers = await asyncio.gather(*(self.call(key, door=each % len(self.doors)) for each in range(number)))
        refs = {ref for _, ref in answers if ref is not None}
        assert len(refs) <= 1, refs
        return Counter(said for said, _ in answers), next(iter(refs), None)

    async def settled(self, reference: str) -> None:
        """An operator looks at the books, and completes the row as soon as all calls must have ended."""
        _, collection, document = reference.split("/")
        place = {"collection": collection, "document": document}
        async with asyncio.timeout(WAIT):
            while True:
                if await self._is_settled(place):
                    return
                await asyncio.sleep(0.5)

    async def _is_settled(self, place: dict[str, str]) -> bool:
        response = wire.SettledResponse(status=201, body={"invoice": "i-1", "token": ANSWER})
        asked = wire.CompleteRow(evidence_sha256=EVIDENCE, reason="it is in the books", response=response)
        try:
            row = await self.doors[0].call(api.GET_LEDGER_ROW, path=place)
            if row.status is wire.RowStatus.IN_PROGRESS:
                version = {"If-Match": f'"{row.version}"'}
                await self.doors[0].call(api.COMPLETE_LEDGER_ROW, path=place, body=asked, headers=version)
        except (Transient, AttemptRunning, StaleVersion):
            return False
        return True


@asynccontextmanager
async def scene(folder: Path, *, firestore: str) -> AsyncGenerator[Scene]:
    reports, file = Reports(), folder / "effects"
    (port,) = addresses.free(1)
    async with AsyncExitStack() as opened:
        process = await asyncio.create_subprocess_exec(sys.executable, books.__file__, str(port), str(file))
        opened.push_async_callback(process.wait)
        opened.callback(process.terminate)
        directory = opened.enter_context(state.held(folder / "stack"))
        directory.operations.write_text(_DECLARED.format(port=port))
        (directory.credentials / "billing").write_text(f"{CREDENTIAL}\n")
        running = await opened.enter_async_context(
            stack.running(directory, addresses=addresses.choose(0), report=reports, instances=2, firestore=firestore)
        )
        limits = httpx2.Limits(max_connections=200)
        http = await opened.enter_async_context(httpx2.AsyncClient(timeout=60, trust_env=False, limits=limits))
        clock = SystemClock()
        minter = LocalMinter(directory.issuer_key, email=PRINCIPAL, issuer=identities.ISSUER, clock=clock)
        doors = [
            Client(http, base_url=url, audience=identities.INGRESS_AUDIENCE, minter=minter, clock=clock)
            for url in running.places.urls(Service.INGRESS)
        ]
        yield Scene(running=running, reports=reports, doors=doors, http=http, port=port, file=file)
