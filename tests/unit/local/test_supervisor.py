"""What is started stays started, and what is stopped is gone."""

import os
import signal
import socket
from datetime import timedelta
from pathlib import Path

import pytest

from services.local.addresses import Addresses, Service
from services.local.program import Program
from services.local.supervisor import StartFailed, supervised
from tests.unit.local.conftest import DEAF, program
from tests.unit.local.reports import Reports

pytestmark = pytest.mark.anyio


def listens(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


async def test_a_program_serves_inside_the_block_and_is_gone_after_it(serves: Program, where: Addresses) -> None:
    async with supervised([serves], report=Reports()):
        assert listens(where.runner)
    assert not listens(where.runner)


async def test_a_killed_master_is_reported_and_started_again_without_its_old_worker(
    serves: Program, where: Addresses
) -> None:
    reports = Reports()
    async with supervised([serves], report=reports) as keepers:
        killed = keepers[Service.RUNNER].pid
        os.kill(killed, signal.SIGKILL)
        assert "runner was ended by SIGKILL" in await reports.until("starting it again")
        # The new server could not bind while the old worker holds the port.
        await reports.until("runner is back")
        assert keepers[Service.RUNNER].pid != killed
    assert not listens(where.runner)


async def test_a_program_that_ends_at_once_fails_the_start_with_the_end_of_its_log(
    tmp_path: Path, where: Addresses
) -> None:
    broken = program(tmp_path, where, script="import sys; print('no such setting'); sys.exit(3)")
    with pytest.raises(StartFailed, match=r"runner ended with exit code 3 before it served:\n    no such setting"):
        async with supervised([broken], report=Reports()):
            raise AssertionError("it never served")


async def test_when_one_program_fails_to_start_the_others_are_stopped(
    serves: Program, tmp_path: Path, where: Addresses
) -> None:
    broken = program(tmp_path, where, script="raise SystemExit(3)", service=Service.INGRESS)
    with pytest.raises(StartFailed):
        async with supervised([serves, broken], report=Reports()):
            raise AssertionError("it never served")
    assert not listens(where.runner)


async def test_a_program_deaf_to_sigterm_is_killed_when_its_grace_is_over(tmp_path: Path, where: Addresses) -> None:
    deaf = program(tmp_path, where, script=DEAF)
    async with supervised([deaf], report=Reports(), grace=timedelta(milliseconds=200)):
        assert listens(where.runner)
    assert not listens(where.runner)
