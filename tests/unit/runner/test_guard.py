"""The guard of a run: what it starts ends with it, whatever happens to whom. Real processes, real signals."""

import asyncio
import os
import signal
import sys
import time
from asyncio.subprocess import PIPE, Process
from collections.abc import AsyncGenerator
from datetime import timedelta
from pathlib import Path

import pytest

from services.runner.sandbox import GuardGone, Launch, NotStarted
from services.runner.sandbox.guard import program
from services.runner.sandbox.guard.client import Guard
from tests.unit.runner.processes import is_alive, until

pytestmark = pytest.mark.anyio

LONG = timedelta(hours=1)
NOW = timedelta()

ESCAPES = {
    "in the background": "sleep 300 &",
    "in a session of its own": "setsid sleep 300 &",
    "forked twice, its parents gone": "(setsid bash -c 'sleep 300 & disown' &) ; (sleep 300 &)",
    "deaf to hangups": "nohup sleep 300 > /dev/null 2>&1 &",
    "deaf to signals": "(trap '' TERM INT HUP; setsid bash -c 'trap \"\" TERM; while :; do sleep 300; done') &",
    "a tree of three hundred": "t() { [ $1 = 0 ] || for i in 1 2 3 4 5 6; do t $(($1 - 1)) & done; sleep 300; }; t 3 &",
    "one that forks all the time": "(while :; do (sleep 300 &) ; sleep 0.002; done) &",
    "stopped": "sleep 300 & kill -STOP $!",
}


def boottime() -> timedelta:
    return timedelta(seconds=time.clock_gettime(time.CLOCK_BOOTTIME))


def command(script: str, *, output: int) -> Launch:
    return Launch(
        argv=("bash", "-c", script),
        directory=Path("/"),
        environment={"PATH": "/usr/bin:/bin"},
        stdout=output,
        stderr=output,
    )


@pytest.fixture
async def guard() -> AsyncGenerator[Guard]:
    guard = await Guard.begin(lease_until=boottime() + LONG)
    yield guard
    await guard.close()


@pytest.fixture
def output(tmp_path: Path) -> int:
    return os.open(tmp_path / "output", os.O_CREAT | os.O_RDWR)


async def run(guard: Guard, script: str, *, output: int) -> int:
    async with asyncio.timeout(20):
        return await guard.launch(command(script, output=output))


async def runner(lease: float, script: str) -> tuple[Process, int, int]:
    """A runner process with a guard of its own; the guard's pid, and the one that the script says."""
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "tests.unit.runner.guarded", str(lease), script), stdout=PIPE
    )
    assert process.stdout is not None
    async with asyncio.timeout(20):
        return process, int(await process.stdout.readline()), int(await process.stdout.readline())


async def until_dead(*pids: int) -> None:
    await until(lambda: not any(map(is_alive, pids)))


@pytest.mark.parametrize(("script", "code"), [("true", 0), ("exit 3", 3), ("kill -TERM $$", 143), ("kill -9 $$", 137)])
async def test_a_commands_exit_code_comes_back(guard: Guard, output: int, script: str, code: int) -> None:
    assert await run(guard, script, output=output) == code


async def test_a_command_that_does_not_exist_is_refused(guard: Guard, output: int) -> None:
    start = Launch(argv=("/no/such",), directory=Path("/"), environment={}, stdout=output, stderr=output)
    with pytest.raises(NotStarted, match="No such file or directory"):
        await guard.launch(start)


async def test_a_command_inherits_nothing_but_its_output(guard: Guard, output: int) -> None:
    assert await run(guard, "ls /proc/$$/fd; env", output=output) == 0
    os.lseek(output, 0, os.SEEK_SET)
    words = os.read(output, 4096).decode().split()
    assert words[:3] == ["0", "1", "2"]
    assert "PATH=/usr/bin:/bin" in words
    assert not any(word.startswith(("HOME", "ANVIL")) for word in words)


@pytest.mark.inv("R1")
@pytest.mark.threat("A48")
@pytest.mark.parametrize("script", ESCAPES.values(), ids=ESCAPES.keys())
async def test_nothing_survives_a_stop(guard: Guard, output: int, script: str) -> None:
    await run(guard, f"{script}\nsleep 0.1", output=output)
    assert program.descendants(guard.pid)
    async with asyncio.timeout(30):
        await guard.stop(grace=timedelta(seconds=0.1))
    assert program.descendants(guard.pid) == set()


async def test_a_stop_gives_everything_its_grace(guard: Guard, output: int) -> None:
    script = "trap 'echo cleaned up; exit 0' TERM; echo ready; while :; do sleep 0.01; done"
    running = asyncio.create_task(run(guard, f'setsid bash -c "{script}"', output=output))
    await until(lambda: os.fstat(output).st_size > 0)
    await guard.stop(grace=LONG)
    await running
    os.lseek(output, 0, os.SEEK_SET)
    assert b"cleaned up\n" in os.read(output, 1000)


@pytest.mark.parametrize("script", ESCAPES.values(), ids=ESCAPES.keys())
async def test_nothing_survives_the_end_of_the_lease(output: int, script: str) -> None:
    guard = await Guard.begin(lease_until=boottime() + LONG)
    await run(guard, f"{script}\nsleep 0.1", output=output)
    survivors = program.descendants(guard.pid)
    assert survivors
    guard.renew(until=boottime())
    async with asyncio.timeout(30):
        await asyncio.shield(guard.over)
    assert not any(map(is_alive, survivors))


async def test_a_renewed_lease_ends_later(output: int) -> None:
    guard = await Guard.begin(lease_until=boottime() + timedelta(seconds=0.5))
    guard.renew(until=boottime() + LONG)
    assert await run(guard, "sleep 1; exit 5", output=output) == 5
    await guard.close()


async def test_a_guard_that_is_gone_starts_nothing(output: int) -> None:
    guard = await Guard.begin(lease_until=boottime())
    async with asyncio.timeout(20):
        await asyncio.shield(guard.over)
    with pytest.raises(GuardGone):
        await guard.launch(command("true", output=output))


async def test_a_killed_runner_leaves_nothing() -> None:
    process, guard, script = await runner(3600, "echo $$; setsid sleep 300 & sleep 300")
    survivors = program.descendants(guard) | {guard, script}
    process.kill()
    await process.wait()
    await until_dead(*survivors)


@pytest.mark.inv("Q8")
async def test_a_stopped_runner_does_not_keep_its_commands_alive() -> None:
    process, guard, script = await runner(1.5, "echo $$; setsid sleep 300 & sleep 300")
    os.kill(process.pid, signal.SIGSTOP)
    survivors = program.descendants(guard) | {script}
    assert is_alive(script)
    await until_dead(*survivors)
    os.kill(process.pid, signal.SIGKILL)
    await process.wait()


async def test_the_orphans_of_a_killed_guard_are_the_runners_to_kill(output: int) -> None:
    program.become_subreaper()
    spared = frozenset(program.descendants(os.getpid()))
    guard = await Guard.begin(lease_until=boottime() + LONG)
    running = asyncio.create_task(guard.launch(command("setsid sleep 300 & sleep 300", output=output)))
    await until(lambda: len(program.descendants(guard.pid)) >= 3)
    orphans = program.descendants(guard.pid)
    os.kill(guard.pid, signal.SIGKILL)
    with pytest.raises(GuardGone):
        await running
    assert program.descendants(os.getpid()) & orphans
    await until(lambda: not program.kill_all(os.getpid(), spared=spared))
    await until_dead(*orphans)
