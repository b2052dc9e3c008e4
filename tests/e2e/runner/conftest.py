"""A runner process between a real repository and a coordinator in memory."""

from collections.abc import AsyncGenerator
from dataclasses import dataclass
from pathlib import Path

import pytest

from services.kernel.adapters.local_minter import create_key
from tests.contract.serving import served
from tests.e2e.runner.platform import platform
from tests.e2e.runner.service import Service, serving
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
