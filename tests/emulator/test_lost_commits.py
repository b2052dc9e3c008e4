"""The network knows a commit when it sees one, and loses no more than its share."""

from random import Random

import pytest

from services.kernel.adapters.clock import SystemClock
from services.kernel.adapters.firestore import FirestoreStore
from services.kernel.adapters.firestore_database import Database
from services.kernel.errors import Ambiguous
from services.kernel.ports import Create, Delete, Query, Replace, Store, Write
from tests.contract.stores import INDEXES, document, read, thing
from tests.emulator.network import Loss, network

pytestmark = [pytest.mark.anyio, pytest.mark.usefixtures("one_event_loop")]


async def lost(store: Store, write: Write) -> None:
    with pytest.raises(Ambiguous):
        await store.commit([write])


async def test_a_network_that_loses_the_answers_to_commits_alone_lets_all_others_through(firestore: Database) -> None:
    assert firestore.emulator is not None
    async with network(firestore.emulator) as between:
        between.loss = Loss(commits=1, others=0, random=Random(0))
        behind = Database(project=firestore.project, emulator=between.address)
        store = FirestoreStore(behind, namespace="test", indexes=INDEXES, clock=SystemClock())
        for _ in range(3):
            await store.get([thing("a"), thing("b")])
            await store.query(Query(collection="things"))
        assert between.cuts == 0

        await lost(store, Create(thing("a"), document(text="x" * 100_000)))
        await lost(store, Replace(thing("a"), document(), (await read(store, thing("a"))).version))
        await lost(store, Delete(thing("a"), (await read(store, thing("a"))).version))
        assert await store.get([thing("a")]) == [None]
        await store.close()
    assert (between.cuts, between.lost_commits) == (3, 3)
