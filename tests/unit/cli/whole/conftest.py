from collections.abc import AsyncGenerator
from pathlib import Path

import pytest

from tests.unit.cli.conftest import Anvil
from tests.unit.cli.whole.desk import Desk, desk_of


@pytest.fixture
async def desk(stranger: Anvil, key_file: Path, tmp_path: Path) -> AsyncGenerator[Desk]:
    """The command on a machine where a local stack runs, which is the whole product in this process."""
    async with desk_of(stranger, key_file, tmp_path) as made:
        yield made
