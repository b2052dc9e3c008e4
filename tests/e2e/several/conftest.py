"""Two instances of every service on one Firestore, real processes behind Cloud Run's front end."""

from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack
from dataclasses import replace
from itertools import count
from pathlib import Path

import pytest

from services.local import addresses, state
from services.local.addresses import Service
from services.local.cloud import stack
from services.local.cloud.stack import CloudStack
from services.local.story.api import Api
from tests.e2e.stack.workplace import Workplace
from tests.unit.local.reports import Reports

INSTANCES = 2

_numbers = count(1)


@pytest.fixture(scope="session")
def reports() -> Reports:
    return Reports()


@pytest.fixture(scope="session")
async def running(
    tmp_path_factory: pytest.TempPathFactory, reports: Reports, firestore_emulator: str, anyio_backend: str
) -> AsyncGenerator[CloudStack]:
    with state.held(tmp_path_factory.mktemp("several")) as directory:
        async with stack.running(
            directory,
            addresses=addresses.choose(0),
            report=reports,
            instances=INSTANCES,
            firestore=firestore_emulator,
        ) as started:
            yield started


@pytest.fixture
async def workplace(running: CloudStack, tmp_path: Path, anyio_backend: str) -> AsyncGenerator[Workplace]:
    """A project of the test's own."""
    async with Api.of(running) as api:
        yield await Workplace.make(api, f"project-{next(_numbers)}", folder=tmp_path / "one")


@pytest.fixture
async def doors(running: CloudStack, workplace: Workplace) -> AsyncGenerator[tuple[Workplace, ...]]:
    """The same project, through each ingress."""
    async with AsyncExitStack() as opened:
        apis = [
            await opened.enter_async_context(Api.of(running, endpoint=url))
            for url in running.places.urls(Service.INGRESS)
        ]
        yield tuple(replace(workplace, api=api) for api in apis)
