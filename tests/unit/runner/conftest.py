from collections.abc import AsyncGenerator
from datetime import timedelta
from pathlib import Path

import pytest

from services.kernel.adapters.clock import SystemClock
from services.runner.checkout import Git
from services.runner.checkout.source import LOCAL
from services.runner.sandbox.guard.client import Guard
from tests.unit.runner.origin import Origin
from tests.unit.runner.stage import Stage


@pytest.fixture
def origin(tmp_path: Path) -> Origin:
    return Origin.create(tmp_path / "origin")


@pytest.fixture
async def git(tmp_path: Path, anyio_backend: str) -> AsyncGenerator[Git]:
    (tmp_path / "clone").mkdir()
    (tmp_path / "home").mkdir()
    guard = await Guard.begin(lease_until=SystemClock().elapsed() + timedelta(hours=1))
    yield Git(
        processes=guard,
        directory=tmp_path / "clone",
        home=tmp_path / "home",
        protocols=LOCAL,
        limit=timedelta(seconds=30),
    )
    await guard.close()


@pytest.fixture
async def stage(tmp_path: Path, anyio_backend: str) -> AsyncGenerator[Stage]:
    stage = Stage(tmp_path)
    yield stage
    await stage.sandbox.close()
