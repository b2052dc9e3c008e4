from collections.abc import AsyncGenerator, Generator
from pathlib import Path

import pytest

from tests.unit.coordinator.operations.billing import Billing, billing
from tests.unit.coordinator.operations.desk import Desk, open_desk


@pytest.fixture
async def upstream(tmp_path: Path, anyio_backend: str) -> AsyncGenerator[Billing]:
    async with billing(tmp_path / "effects") as made:
        yield made


@pytest.fixture
def desk(tmp_path: Path) -> Generator[Desk]:
    with open_desk(tmp_path) as made:
        yield made
