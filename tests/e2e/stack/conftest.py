"""A whole local stack, real processes on free ports, for the tests of a session; each test has a project of its own."""

from collections.abc import AsyncGenerator
from itertools import count
from pathlib import Path

import pytest

from services.local import addresses, stack, state
from services.local.addresses import Service
from services.local.stack import Stack
from services.local.story.api import Api
from tests.e2e.stack.workplace import Workplace
from tests.unit.local.reports import Reports

# A lost runner is noticed in seconds, and no restart of another part lasts as long as a lease.
HEARTBEATS = {"ANVIL_HEARTBEAT_SECONDS": "1", "ANVIL_LEASE_SECONDS": "8", "ANVIL_STALE_SECONDS": "10"}

_numbers = count(1)


@pytest.fixture(scope="session")
def reports() -> Reports:
    return Reports()


@pytest.fixture(scope="session")
async def running(
    tmp_path_factory: pytest.TempPathFactory, reports: Reports, anyio_backend: str
) -> AsyncGenerator[Stack]:
    overrides = {Service.COORDINATOR: HEARTBEATS, Service.RUNNER: HEARTBEATS}
    with state.held(tmp_path_factory.mktemp("stack")) as directory:
        async with stack.running(
            directory,
            addresses=addresses.choose(0),
            report=reports,
            overrides=overrides,
        ) as started:
            yield started


@pytest.fixture
async def api(running: Stack, anyio_backend: str) -> AsyncGenerator[Api]:
    async with Api.of(running) as client:
        yield client


@pytest.fixture
async def workplace(api: Api, tmp_path: Path) -> Workplace:
    return await Workplace.make(api, f"project-{next(_numbers)}", folder=tmp_path / "one")


@pytest.fixture
async def another(api: Api, tmp_path: Path) -> Workplace:
    return await Workplace.make(api, f"project-{next(_numbers)}", folder=tmp_path / "another")
