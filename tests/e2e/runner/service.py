"""The runner as it is deployed: gunicorn with one worker, told everything by its environment."""

import asyncio
import os
import signal
import socket
import sys
from asyncio.subprocess import Process
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import httpx2

from services.kernel.adapters.clock import SystemClock
from services.kernel.adapters.local_minter import LocalMinter
from tests.e2e.runner.platform import COORDINATOR, ISSUER, RUNNER
from tests.unit.runner.desk import RUN

SOURCES = Path(__file__).resolve().parents[3]
AUDIENCE = "anvil-runner"
TASKS = "tasks@anvil.local"


@dataclass(frozen=True, slots=True, kw_only=True)
class Service:
    process: Process
    url: str
    key_file: Path
    http: httpx2.AsyncClient

    async def task(self, *, email: str = TASKS, audience: str = AUDIENCE) -> httpx2.Response:
        """Hand over the run, as Cloud Tasks would for `email`."""
        token = await LocalMinter(self.key_file, email=email, issuer=ISSUER, clock=SystemClock()).mint(audience)
        headers = {"Authorization": f"Bearer {token.value}"}
        return await self.http.post(f"{self.url}/tasks/run", json={"run": RUN, "dispatch": 1}, headers=headers)

    async def ended(self) -> int:
        async with asyncio.timeout(12):
            return await self.process.wait()


@asynccontextmanager
async def serving(platform_url: str, key_file: Path, work: Path) -> AsyncGenerator[Service]:
    """A runner that is ready, and is gone afterwards."""
    with socket.socket() as bound:
        bound.bind(("127.0.0.1", 0))
        bound.listen()
        url = f"http://127.0.0.1:{bound.getsockname()[1]}"
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "gunicorn", "services.runner.main:application()"),
            *("--worker-class", "uvicorn_worker.UvicornWorker", "--workers", "1"),
            *("--bind", f"fd://{bound.fileno()}", "--graceful-timeout", "8", "--no-control-socket"),
            cwd=SOURCES,
            env={"PATH": os.environ["PATH"], **environment(platform_url, key_file, work)},
            pass_fds=[bound.fileno()],
            start_new_session=True,
        )
    try:
        async with httpx2.AsyncClient(timeout=30, trust_env=False) as http:
            (await http.get(f"{url}/readyz")).raise_for_status()
            yield Service(process=process, url=url, key_file=key_file, http=http)
    finally:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        await process.wait()


def environment(platform_url: str, key_file: Path, work: Path) -> dict[str, str]:
    return {
        "ANVIL_ENVIRONMENT": "dev",
        "ANVIL_NAMESPACE": "test",
        "ANVIL_ISSUER": ISSUER,
        "ANVIL_JWKS_URL": f"{platform_url}/jwks",
        "ANVIL_LOCAL_KEY_FILE": str(key_file),
        "ANVIL_AUDIENCE": AUDIENCE,
        "ANVIL_SERVICE_EMAIL": RUNNER,
        "ANVIL_COORDINATOR_URL": platform_url,
        "ANVIL_COORDINATOR_AUDIENCE": COORDINATOR,
        "ANVIL_TASKS_CALLERS": f'["{TASKS}"]',
        "ANVIL_WORK_DIR": str(work),
        "ANVIL_SANDBOX": "process",
        "ANVIL_ALLOW_LOCAL_REPOSITORIES": "true",
    }
