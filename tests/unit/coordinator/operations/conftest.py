import ssl
from collections.abc import AsyncGenerator, Generator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from services.coordinator.layout import INDEXES
from services.coordinator.ledger.documents import indexes
from services.coordinator.ledger.ledger import Ledger
from services.coordinator.operations.credentials import Credentials
from services.coordinator.operations.upstream import HttpCaller
from services.kernel.adapters.sqlite import SqliteStore
from services.kernel.namespace import ledger_collection
from tests.unit.coordinator.operations.billing import Billing, billing
from tests.unit.coordinator.operations.desk import Desk, Names
from tests.unit.coordinator.stores import WatchedStore
from tests.unit.kernel.world import CountingIds, MovableClock


@pytest.fixture
async def upstream(tmp_path: Path, anyio_backend: str) -> AsyncGenerator[Billing]:
    async with billing(tmp_path / "effects") as made:
        yield made


@pytest.fixture
def desk(tmp_path: Path) -> Generator[Desk]:
    clock, ids, names = MovableClock(), CountingIds(), Names()
    collection = ledger_collection("test")
    with ThreadPoolExecutor(1) as executor:
        state = SqliteStore(
            tmp_path / "state.sqlite", namespace="test", indexes=INDEXES, executor=executor, clock=clock
        )
        rows = SqliteStore(
            tmp_path / "ledger.sqlite", namespace="test", indexes=indexes(collection), executor=executor, clock=clock
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
