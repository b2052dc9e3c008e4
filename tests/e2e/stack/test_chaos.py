"""Processes are killed one after the other while pushes come in; what was acknowledged still runs."""

import asyncio
import os
import shlex
import signal
from collections.abc import Sequence
from pathlib import Path

import httpx2
import pytest

from services.kernel.runs import Reason, Status
from services.kernel.wire.deliveries import HookAnswer
from services.local.addresses import Service
from services.local.stack import Stack
from services.local.story.push import Push
from tests.e2e.stack.workplace import Workplace
from tests.unit.local.reports import Reports

pytestmark = [pytest.mark.anyio, pytest.mark.soak, pytest.mark.timeout(300)]

PUSHES = 12
AGAIN_SECONDS = 0.2


async def kill_one_after_the_other(running: Stack, reports: Reports, victims: Sequence[Service]) -> None:
    """Each victim with its whole group, as soon as the last one is back."""
    for victim in victims:
        os.killpg(running.pid(victim), signal.SIGKILL)
        await reports.until(f"{victim} is back")


async def acknowledged(workplace: Workplace, push: Push) -> str:
    """The push's run, from a Git host that sends again whatever was not answered with success."""
    while True:
        try:
            response = await workplace.deliver(push)
        except httpx2.TransportError:
            await asyncio.sleep(AGAIN_SECONDS)
            continue
        if response.is_success:
            run = HookAnswer.model_validate_json(response.content).run_id
            assert run is not None
            return run
        assert response.status_code == 503, response.text
        await asyncio.sleep(AGAIN_SECONDS)


def noted(record: Path) -> str:
    file = shlex.quote(str(record))
    return f'echo "begin $ANVIL_RUN_ID" >> {file}; sleep 0.5; echo "end $ANVIL_RUN_ID" >> {file}'


async def test_every_acknowledged_push_runs_once_and_in_order_whatever_else_is_killed(
    running: Stack, reports: Reports, workplace: Workplace, tmp_path: Path
) -> None:
    record = tmp_path / "record"
    sha = workplace.commit(noted(record))
    victims = 2 * (Service.COORDINATOR, Service.INGRESS, Service.PLATFORM)
    async with asyncio.TaskGroup() as chaos:
        chaos.create_task(kill_one_after_the_other(running, reports, victims))
        runs = [await acknowledged(workplace, workplace.push(sha)) for _ in range(PUSHES)]
    views = [await workplace.finished(run) for run in runs]
    assert {view.run.status for view in views} == {Status.PASSED}
    assert record.read_text().splitlines() == [line for run in runs for line in (f"begin {run}", f"end {run}")]


async def test_no_run_begins_twice_and_none_hangs_though_its_runner_is_killed(
    running: Stack, reports: Reports, workplace: Workplace, tmp_path: Path
) -> None:
    record = tmp_path / "record"
    sha = workplace.commit(noted(record))
    victims = 2 * (Service.RUNNER, Service.COORDINATOR)
    async with asyncio.TaskGroup() as chaos:
        chaos.create_task(kill_one_after_the_other(running, reports, victims))
        runs = [await acknowledged(workplace, workplace.push(sha)) for _ in range(PUSHES)]
    views = [await workplace.finished(run) for run in runs]
    for view in views:
        assert view.run.status is Status.PASSED or view.run.reason is Reason.RUNNER_LOST, view
    begun = [line for line in record.read_text().splitlines() if line.startswith("begin")]
    assert len(begun) == len(set(begun))
