"""A second adapter joins a contract by one more parameter here."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from services.kernel.ports import Store
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
