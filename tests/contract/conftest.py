"""A second adapter joins a contract by one more parameter here."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from services.kernel.ports import Store, Target
from tests.contract.queues import Queue, cloud_queue, local_queue
from tests.contract.receiver import Receiver
from tests.contract.serving import served
from tests.contract.stores import Database, FirestoreDatabase, SqliteDatabase, ToyDatabase


@pytest.fixture(params=["sqlite", "firestore", "toy"])
async def database(request: pytest.FixtureRequest, tmp_path: Path, one_event_loop: None) -> AsyncIterator[Database]:
    opened: Database
    match request.param:
        case "sqlite":
            opened = SqliteDatabase(tmp_path / "store.db")
        case "toy":
            opened = ToyDatabase(tmp_path / "toy.json")
        case _:
            opened = FirestoreDatabase(request.getfixturevalue("firestore"))
    yield opened
    await opened.close()


@pytest.fixture
def store(database: Database) -> Store:
    return database.open()


@pytest.fixture
def receivers() -> dict[Target, Receiver]:
    return {target: Receiver() for target in Target}


@pytest.fixture(params=["local", "cloud"])
async def queue(
    request: pytest.FixtureRequest, tmp_path: Path, receivers: dict[Target, Receiver], one_event_loop: None
) -> AsyncIterator[Queue]:
    async with served(*receivers.values()) as urls:
        addresses = dict(zip(receivers, urls, strict=True))
        local = request.param == "local"
        async with local_queue(tmp_path / "tasks.db", addresses) if local else cloud_queue(addresses) as running:
            yield running


@pytest.fixture
def runner(receivers: dict[Target, Receiver]) -> Receiver:
    return receivers[Target.RUNNER]


@pytest.fixture
def coordinator(receivers: dict[Target, Receiver]) -> Receiver:
    return receivers[Target.COORDINATOR]
