"""The store's contract: several processes, and processes that die."""

import asyncio
import signal
import sys
from asyncio.subprocess import PIPE, Process
from pathlib import Path

import pytest

from tests.contract.counter import COUNTER, increment
from tests.contract.stores import Database, read

pytestmark = pytest.mark.anyio

ROOT = Path(__file__).parents[2]


async def count_up(database: Database, times: int) -> Process:
    command = [sys.executable, "-m", "tests.contract.counter", database.address, str(times)]
    return await asyncio.create_subprocess_exec(*command, stdout=PIPE, cwd=ROOT)


async def test_no_increment_of_several_processes_is_lost(database: Database) -> None:
    processes = [await count_up(database, 40) for _ in range(4)]
    outputs = [await process.communicate() for process in processes]

    numbers = [int(line) for out, _ in outputs for line in out.split()]
    assert sorted(numbers) == list(range(1, 161))
    assert (await read(database.open(), COUNTER)).data["number"] == 160


async def test_what_a_killed_process_had_acknowledged_is_there(database: Database) -> None:
    process = await count_up(database, 1_000_000)
    assert process.stdout is not None
    for _ in range(25):
        await process.stdout.readline()
    process.send_signal(signal.SIGKILL)
    acknowledged = [25, *map(int, (await process.communicate())[0].split())]

    number = (await read(database.open(), COUNTER)).data["number"]
    assert isinstance(number, int)
    assert max(acknowledged) <= number <= max(acknowledged) + 1


async def test_a_killed_process_leaves_nothing_locked(database: Database) -> None:
    process = await count_up(database, 1_000_000)
    assert process.stdout is not None
    await process.stdout.readline()
    process.send_signal(signal.SIGKILL)
    await process.wait()

    assert await increment(database.open()) is not None
