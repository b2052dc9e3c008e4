"""A process that is killed in the middle of a call leaves its row, and nobody calls again."""

import asyncio
import signal
import sys
from datetime import timedelta
from pathlib import Path

import pytest

from services.kernel.errors import IdempotencyInProgress
from services.kernel.wire.ledger import LedgerQuery, RowStatus
from tests.unit.coordinator.operations import billing as other
from tests.unit.coordinator.operations.billing import Billing
from tests.unit.coordinator.operations.desk import KEYED, Desk, operation

pytestmark = pytest.mark.anyio

ROOT = Path(__file__).resolve().parents[4]


@pytest.mark.req("R111")
@pytest.mark.inv("I3", "I8")
@pytest.mark.parametrize("mode", KEYED)
async def test_after_a_kill_in_the_middle_of_a_call_nobody_calls_again(
    tmp_path: Path, upstream: Billing, desk: Desk, mode: str
) -> None:
    upstream.answers = [other.does_and_hangs]
    killed = await asyncio.create_subprocess_exec(
        sys.executable,
        "-m",
        "tests.unit.coordinator.operations.killed",
        str(tmp_path),
        str(upstream.port),
        mode,
        cwd=ROOT,
        stdout=asyncio.subprocess.DEVNULL,
    )
    await upstream.arrived.wait()
    killed.kill()
    assert await killed.wait() == -signal.SIGKILL
    upstream.answers = [other.answers(201)]
    for years in range(3):
        desk.clock.move(timedelta(days=365 * years))
        with pytest.raises(IdempotencyInProgress):
            await desk.execute(operation(mode, port=upstream.port))
    assert desk.ledger is not None
    (row,) = (await desk.ledger.page(LedgerQuery())).items
    assert row.status is RowStatus.IN_PROGRESS
    assert (len(upstream.requests), len(upstream.made())) == (1, 1)
