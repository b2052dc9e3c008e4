"""A runner process between a real repository and a coordinator in memory; and one in a whole stack."""

from collections.abc import AsyncGenerator
from dataclasses import dataclass
from itertools import count
from pathlib import Path

import httpx2
import pytest

from services.kernel.adapters.local_minter import create_key
from services.local import addresses, stack, state
from services.local.addresses import Service as Part
from services.local.stack import Stack
from services.local.story.api import Api
from tests.contract.serving import served
from tests.e2e.runner.between import Between
from tests.e2e.runner.life import NUMBERS, Life
from tests.e2e.runner.platform import platform
from tests.e2e.runner.service import Service, serving
from tests.e2e.stack.workplace import Workplace
from tests.unit.local.reports import Reports
from tests.unit.runner.desk import Desk, job
from tests.unit.runner.origin import Origin


@dataclass(frozen=True, slots=True, kw_only=True)
class Site:
    """`go` is the file for which the run's second command waits."""

    runner: Service
    desk: Desk
    work: Path
    go: Path


@pytest.fixture
async def site(tmp_path: Path, anyio_backend: str) -> AsyncGenerator[Site]:
    key_file, work, go = tmp_path / "key.pem", tmp_path / "work", tmp_path / "go"
    create_key(key_file)
    (work / "run_old" / "repository").mkdir(parents=True)
    origin = Origin.create(tmp_path / "origin")
    waiting = f"echo pid $$; echo ready; until [ -e {go} ]; do sleep 0.01; done"
    pipeline = (
        f"version: 1\nrun:\n  steps:\n    - {{name: greet, run: echo hello}}\n    - {{name: wait, run: '{waiting}'}}\n"
    )
    desk = Desk(job(origin.url, sha=origin.commit({".anvil.yml": pipeline})))
    async with served(platform(desk, key_file)) as (url,), serving(url, key_file, work) as runner:
        yield Site(runner=runner, desk=desk, work=work, go=go)


# A stack whose runner talks to the coordinator through a test's hands. It is one for all tests, a project for each.

_numbers = count(1)


@pytest.fixture(scope="session")
def reports() -> Reports:
    return Reports()


@pytest.fixture(scope="session")
async def intercepted(
    tmp_path_factory: pytest.TempPathFactory, reports: Reports, anyio_backend: str
) -> AsyncGenerator[tuple[Stack, Between]]:
    ports = addresses.choose(0)
    async with httpx2.AsyncClient(trust_env=False) as http:
        between = Between(ports.url(Part.COORDINATOR), http)
        async with served(between.application()) as (url,):
            overrides = {Part.COORDINATOR: NUMBERS, Part.RUNNER: {**NUMBERS, "ANVIL_COORDINATOR_URL": url}}
            with state.held(tmp_path_factory.mktemp("stack")) as directory:
                async with stack.running(directory, addresses=ports, report=reports, overrides=overrides) as running:
                    yield running, between


@pytest.fixture
async def life(
    intercepted: tuple[Stack, Between], reports: Reports, tmp_path: Path, anyio_backend: str
) -> AsyncGenerator[Life]:
    running, between = intercepted
    async with Api.of(running) as api:
        workplace = await Workplace.make(api, f"life-{next(_numbers)}", folder=tmp_path / "place")
        record = tmp_path / "record"
        yield Life(stack=running, reports=reports, between=between, workplace=workplace, record=record)
        workplace.gate.touch()
        for run in await api.runs(workplace.project):
            await api.cancel(run.run_id)
            await workplace.finished(run.run_id)
