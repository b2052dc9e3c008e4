from collections.abc import AsyncGenerator, Generator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from services.kernel.adapters.local_minter import create_key
from tests.unit.coordinator.callers import KeyFile
from tests.unit.coordinator.instance import Place
from tests.unit.whole import Whole, whole


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
async def anvil(place: Place) -> AsyncGenerator[Whole]:
    async with whole(place) as made:
        yield made
