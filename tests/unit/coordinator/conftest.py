"""One issuer for all; a fresh file and a clock at noon for each test."""

from collections.abc import AsyncGenerator, Generator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from services.kernel.adapters.local_minter import create_key
from tests.unit.coordinator.book import Book
from tests.unit.coordinator.book import book as opened
from tests.unit.coordinator.callers import KeyFile
from tests.unit.coordinator.driver import Driver
from tests.unit.coordinator.instance import Instance, Place, instance
from tests.unit.kernel.world import MovableClock


@pytest.fixture(scope="session")
def keys(tmp_path_factory: pytest.TempPathFactory) -> KeyFile:
    path = tmp_path_factory.mktemp("issuer") / "key.pem"
    create_key(path)
    return KeyFile(path)


@pytest.fixture
def place(tmp_path: Path, keys: KeyFile) -> Generator[Place]:
    with ThreadPoolExecutor(2) as executor:
        yield Place(folder=tmp_path, keys=keys, executor=executor)


@pytest.fixture
def clock(place: Place) -> MovableClock:
    return place.clock


@pytest.fixture
async def anvil(place: Place) -> AsyncGenerator[Driver]:
    """A coordinator with the project `site`, which has a GitHub webhook at version `v1`."""
    async with instance(place) as made:
        driver = Driver(made)
        await driver.create_project()
        await driver.create_webhook()
        made.store.forget()
        yield driver


@pytest.fixture
async def another(anvil: Driver, place: Place) -> AsyncGenerator[Driver]:
    """One more instance beside the first."""
    async with instance(place) as made:
        yield Driver(made)


@pytest.fixture
def home(anvil: Driver) -> Instance:
    """The first instance itself."""
    return anvil.instance


@pytest.fixture(name="book")
async def a_book(place: Place) -> AsyncGenerator[Book]:
    """A coordinator with a ledger."""
    async with opened(place) as made:
        yield made
