"""What the database holds of some projects, read by a client that has seen nothing before."""

from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager, suppress
from functools import partial
from typing import TypeVar

from services.coordinator.records.project import PROJECTS, SLUGS, Project
from services.coordinator.records.run import HEARTBEATS
from services.kernel.adapters.clock import SystemClock
from services.kernel.adapters.firestore import FirestoreStore
from services.kernel.adapters.firestore_database import Database
from services.kernel.errors import Unavailable
from services.kernel.ids import Slug
from services.kernel.ports import Document, Index, Op, Query, Ref, Snapshot, Where
from services.local.cloud.stack import CloudStack
from tests.simulation.state import State

OWNED = ("runs", "run_index", "deliveries", "ref_events")
BY_PROJECT = tuple(Index(collection=collection, equal=frozenset({"project_id"})) for collection in OWNED)
MANY = 10_000

Answer = TypeVar("Answer")


class Fresh:
    """Reads past the network that fails."""

    def __init__(self, store: FirestoreStore) -> None:
        self._store = store

    async def read(self, refs: Sequence[Ref]) -> dict[Ref, Document]:
        return {found.ref: found.data for found in await self._get(refs)}

    async def projects(self, slugs: Sequence[str]) -> list[Project]:
        claims = await self._get([SLUGS.ref(Slug(slug)) for slug in slugs])
        refs = [PROJECTS.ref(SLUGS.load(claim).value.project_id) for claim in claims]
        return [PROJECTS.load(found).value for found in await self._get(refs)]

    async def state(self, slugs: Sequence[str]) -> State:
        """All documents of these projects."""
        owners = [project.project_id for project in await self.projects(slugs)]
        found = await self._get([PROJECTS.ref(owner) for owner in owners])
        for owner in owners:
            for collection in OWNED:
                asked = Query(collection=collection, where=(Where("project_id", Op.EQUAL, owner),), limit=MANY)
                found += await _insist(partial(self._store.query, asked))
        runs = [Ref(HEARTBEATS.collection, each.ref.id) for each in found if each.ref.collection == "runs"]
        found += await self._get(runs)
        return State({snapshot.ref: snapshot.data for snapshot in found})

    async def _get(self, refs: Sequence[Ref]) -> list[Snapshot]:
        """Those that are there."""
        return [found for found in await _insist(partial(self._store.get, refs)) if found is not None]


async def _insist(read: Callable[[], Awaitable[Answer]]) -> Answer:
    """Once more as long as a machine that has other things to do lets the emulator answer too late."""
    while True:
        with suppress(Unavailable):
            return await read()


@asynccontextmanager
async def fresh(running: CloudStack, *, firestore: str) -> AsyncGenerator[Fresh]:
    """`firestore` is where the emulator is in truth."""
    database = Database(project=running.places.project, emulator=firestore)
    store = FirestoreStore(database, namespace="local", indexes=BY_PROJECT, clock=SystemClock())
    try:
        yield Fresh(store)
    finally:
        await store.close()
