"""One platform for all; each test makes projects of its own."""

from collections.abc import AsyncGenerator

import pytest

from tests.corpus.platform import Platform, platform


@pytest.fixture(scope="session", name="anvil")
async def the_platform(tmp_path_factory: pytest.TempPathFactory) -> AsyncGenerator[Platform]:
    async with platform(tmp_path_factory.mktemp("anvil")) as made:
        yield made
