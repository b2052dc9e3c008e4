"""A second adapter joins a contract by one more parameter here."""

from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from services.kernel.ports import Store, Target
from tests.contract.queues import Queue, local_queue
from tests.contract.receiver import Receiver
from tests.contract.serving import served
from tests.contract.stores import Database, SqliteDatabase


@pytest.fixture(params=["sqlite"])
def database(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Database]:
    assert request.param == "sqlite"
    opened = SqliteDatabase(tmp_path / "store.db")
    yield opened
    opened.close()


@pytest.fixture
def store(database: Database) -> Store:
    return database.open()


@pytest.fixture
def receivers() -> dict[Target, Receiver]:
    return {target: Receiver() for target in Target}


@pytest.fixture(params=["local"])
async def queue(
    request: pytest.FixtureRequest, tmp_path: Path, receivers: dict[Target, Receiver]
) -> AsyncIterator[Queue]:
    assert request.param == "local"
    async with served(*receivers.values()) as urls:
        addresses = dict(zip(receivers, urls, strict=True))
        async with local_queue(tmp_path / "tasks.db", addresses) as running:
            yield running


@pytest.fixture
def runner(receivers: dict[Target, Receiver]) -> Receiver:
    return receivers[Target.RUNNER]


@pytest.fixture
def coordinator(receivers: dict[Target, Receiver]) -> Receiver:
    return receivers[Target.COORDINATOR]
