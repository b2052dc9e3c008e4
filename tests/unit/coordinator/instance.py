"""One instance of the coordinator on a real store, and what its callers ask of it."""

from collections.abc import AsyncGenerator
from concurrent.futures import Executor
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

import httpx2
from starlette.applications import Starlette
from starlette.types import Message, Receive, Scope, Send

from services.coordinator.app import World, create
from services.coordinator.layout import INDEXES
from services.coordinator.ledger.backend import Backend
from services.coordinator.operations import catalogue
from services.coordinator.operations.model import Catalogue
from services.coordinator.operations.upstream import Caller, Nowhere
from services.coordinator.records.table import Table
from services.coordinator.settings import CoordinatorSettings
from services.kernel.adapters.sqlite import SqliteStore
from services.kernel.client import Client
from tests.unit.coordinator import callers
from tests.unit.coordinator.callers import KeyFile, caller
from tests.unit.coordinator.queues import KeptTasks
from tests.unit.coordinator.stores import WatchedStore
from tests.unit.kernel.world import CountingIds, MovableClock

Record = TypeVar("Record")


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Where instances run: the same file, time and issuer for all of them."""

    folder: Path
    keys: KeyFile
    executor: Executor
    clock: MovableClock = field(default_factory=MovableClock)
    ids: CountingIds = field(default_factory=CountingIds)


@dataclass(slots=True, kw_only=True)
class Instance:
    """`calls_before_answer`: how often the store was asked until the latest answer began; `bodies` are all answers."""

    app: Starlette
    store: WatchedStore
    tasks: KeptTasks
    clock: MovableClock
    keys: KeyFile
    calls_before_answer: int = 0
    bodies: list[bytes] = field(default_factory=list[bytes])

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def observed(message: Message) -> None:
            if message["type"] == "http.response.start":
                self.calls_before_answer = self.store.calls
            else:
                self.bodies.append(message.get("body", b""))
            await send(message)

        await self.app(scope, receive, observed)

    def client(self, email: str) -> Client:
        http = httpx2.AsyncClient(transport=httpx2.ASGITransport(self))
        return caller(http, email, keys=self.keys, clock=self.clock)

    async def settle(self) -> None:
        """Wait for what follows the answers, as an instance does before it ends."""
        async with self.app.router.lifespan_context(self.app):
            pass

    async def stored(self, table: Table[Record], id_: str) -> Record:
        """The value of a document, which must be there."""
        (snapshot,) = await self.store.store.get([table.ref(id_)])
        assert snapshot is not None, id_
        return table.load(snapshot).value

    async def is_stored(self, table: Table[Record], id_: str) -> bool:
        (snapshot,) = await self.store.store.get([table.ref(id_)])
        return snapshot is not None


def settings(path: Path, *, local_upstreams: bool = False) -> CoordinatorSettings:
    return CoordinatorSettings(
        environment="dev",
        namespace="test",
        audience=callers.AUDIENCE,
        issuer=callers.ISSUER,
        store="sqlite",
        sqlite_path=path,
        tasks="local",
        tasks_url="http://tasks",
        tasks_audience="anvil-tasks",
        allow_local_upstreams=local_upstreams,
        hooks_callers=frozenset({callers.HOOKS}),
        console_callers=frozenset({callers.CONSOLE}),
        runner_callers=frozenset({callers.RUNNER}),
        tasks_callers=frozenset({callers.TASKS}),
        scheduler_callers=frozenset({callers.SCHEDULER}),
    )


@asynccontextmanager
async def instance(
    place: Place,
    *,
    ledger: Backend | None = None,
    operations: Catalogue = catalogue.NONE,
    upstream: Caller | None = None,
) -> AsyncGenerator[Instance]:
    """One more process of the coordinator. Where an `upstream` is given it may be one of this machine."""
    path = place.folder / "anvil.sqlite"
    sqlite = SqliteStore(path, namespace="test", indexes=INDEXES, executor=place.executor, clock=place.clock)
    store, tasks = WatchedStore(sqlite), KeptTasks()
    world = World(
        store=store,
        tasks=tasks,
        keys=place.keys,
        clock=place.clock,
        ids=place.ids,
        ledger=ledger,
        catalogue=operations,
        upstream=upstream or Nowhere(),
    )
    app = create(settings(path, local_upstreams=upstream is not None), world)
    made = Instance(app=app, store=store, tasks=tasks, clock=place.clock, keys=place.keys)
    try:
        yield made
    finally:
        await made.settle()
        sqlite.close()
