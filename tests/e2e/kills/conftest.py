"""Two instances of every service on one Firestore, behind a network that loses answers, told of tasks in disorder."""

import os
from collections.abc import AsyncGenerator, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from datetime import timedelta

import httpx2
import pytest

from services.kernel.ports import Document, Ref
from services.local import addresses, state
from services.local.addresses import Service
from services.local.cloud import stack
from services.local.cloud.stack import CloudStack
from services.local.story.api import Api
from tests.e2e.kills.report import Report
from tests.e2e.kills.stored import Fresh
from tests.e2e.kills.strikes import INSTANCES
from tests.emulator.network import Network, network
from tests.unit.local.reports import Reports

SEED = int(os.environ.get("ANVIL_KILLS_SEED", "20261130"))
KILLS = int(os.environ.get("ANVIL_KILLS", "8"))
LEASE, STALE = timedelta(seconds=4), timedelta(seconds=5)
NUMBERS = {
    "ANVIL_HEARTBEAT_SECONDS": "0.5",
    "ANVIL_LEASE_SECONDS": f"{LEASE.total_seconds():.0f}",
    "ANVIL_STALE_SECONDS": f"{STALE.total_seconds():.0f}",
    "ANVIL_GRACE_SECONDS": "1",
}
DISORDER = {"seed": SEED, "lateSeconds": 0.5, "twice": 0.3}

_REPORT = pytest.StashKey[Report]()


@dataclass(frozen=True, slots=True, kw_only=True)
class Scene:
    """`firestore` is the emulator, past the network; `doors` are the ingresses, in order.

    `over` is what earlier rounds left behind.
    """

    running: CloudStack
    network: Network
    firestore: str
    doors: Sequence[Api]
    reports: Reports
    report: Report
    over: dict[Ref, Document] = field(default_factory=dict[Ref, Document])

    async def changed_since(self, eyes: Fresh) -> list[str]:
        """What of earlier rounds, which are over, is not as it was: whoever was stopped came back and wrote."""
        refs = list(self.over)
        found = await eyes.read(refs)
        return [f"over: {ref} is not as it was" for ref in refs if found.get(ref) != self.over[ref]]


@pytest.fixture(scope="module")
async def scene(
    tmp_path_factory: pytest.TempPathFactory, firestore_emulator: str, pytestconfig: pytest.Config, anyio_backend: str
) -> AsyncGenerator[Scene]:
    reports = Reports()
    pytestconfig.stash[_REPORT] = report = Report()
    async with AsyncExitStack() as opened:
        between = await opened.enter_async_context(network(firestore_emulator))
        running = await opened.enter_async_context(
            stack.running(
                opened.enter_context(state.held(tmp_path_factory.mktemp("kills"))),
                addresses=addresses.choose(0),
                report=reports,
                instances=len(INSTANCES),
                firestore=between.address,
                overrides={Service.COORDINATOR: NUMBERS, Service.RUNNER: NUMBERS},
            )
        )
        await _in_disorder(running)
        doors = [
            await opened.enter_async_context(Api.of(running, endpoint=url))
            for url in running.places.urls(Service.INGRESS)
        ]
        yield Scene(
            running=running,
            network=between,
            firestore=firestore_emulator,
            doors=doors,
            reports=reports,
            report=report,
        )
        report.lost_answers, report.lost_commits = between.cuts, between.lost_commits


async def _in_disorder(running: CloudStack) -> None:
    async with httpx2.AsyncClient(trust_env=False) as http:
        answer = await http.post(f"{running.addresses.url(Service.PLATFORM)}/disorder", json=DISORDER)
        answer.raise_for_status()


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    report = config.stash.get(_REPORT, None)
    if report is not None and report.rounds:
        terminalreporter.section(f"kills, seed {SEED}")
        for line in report.lines():
            terminalreporter.write_line(line)
