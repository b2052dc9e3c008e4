"""Commands as plain processes: real bash, real signals."""

import asyncio
import os
from collections.abc import AsyncGenerator, Mapping
from datetime import timedelta
from pathlib import Path

import pytest

from services.kernel.adapters.clock import SystemClock
from services.kernel.ids import RunId
from services.runner.sandbox import Command, NotStarted, Workspace
from services.runner.sandbox.process import ProcessSandbox
from tests.unit.runner.processes import is_alive

pytestmark = pytest.mark.anyio

RUN = RunId("run_0000000000000000000001")
LONG = timedelta(seconds=30)


class Bench:
    """An open sandbox and what its commands have written."""

    def __init__(self, sandbox: ProcessSandbox) -> None:
        self.sandbox = sandbox
        self.workspace = Workspace(root=Path())
        self._written = bytearray()
        self._came = asyncio.Event()

    def take(self, block: bytes) -> None:
        self._written += block
        self._came.set()

    async def run(self, script: str, environment: Mapping[str, str] | None = None) -> int:
        command = Command(script=script, directory=self.workspace.repository, environment=environment or {})
        async with asyncio.timeout(20):
            return await self.sandbox.run(command)

    @property
    def text(self) -> str:
        return self._written.decode()

    async def wrote(self, text: str) -> None:
        async with asyncio.timeout(20):
            while text not in self.text:
                self._came.clear()
                await self._came.wait()


@pytest.fixture
async def bench(tmp_path: Path) -> AsyncGenerator[Bench]:
    bench = Bench(ProcessSandbox(tmp_path / "work", clock=SystemClock()))
    bench.workspace = await bench.sandbox.open(
        RUN, output=bench.take, lease_until=SystemClock().elapsed() + timedelta(hours=1)
    )
    yield bench
    await bench.sandbox.close()


@pytest.mark.inv("R5")
@pytest.mark.parametrize(
    ("script", "code"),
    [
        ("true", 0),
        ("exit 7", 7),
        ("false; true", 1),
        ("false | true", 1),
        ("kill -KILL $$", 137),
        ("kill -TERM $$", 143),
        ("bash -c 'kill -SEGV $$'", 139),
        ("no-such-command", 127),
        ("if", 2),
        ("-x", 127),
    ],
)
async def test_the_exit_code_is_the_commands_own(bench: Bench, script: str, code: int) -> None:
    assert await bench.run(script) == code


async def test_standard_error_is_in_the_output_in_its_place(bench: Bench) -> None:
    await bench.run("echo 1; echo 2 >&2; echo 3; printf 4 >&2")
    assert bench.text == "1\n2\n3\n4"


async def test_all_that_a_command_wrote_is_there_when_it_has_ended(bench: Bench) -> None:
    await bench.run("head -c 300000 /dev/zero | tr '\\0' x")
    assert bench.text == "x" * 300_000


async def test_standard_input_is_empty(bench: Bench) -> None:
    assert await bench.run("wc -c") == 0
    assert bench.text == "0\n"


@pytest.mark.threat("A44")
async def test_the_environment_is_only_what_is_given(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANVIL_SECRET", "hunter2")
    await bench.run("cat /proc/$$/environ | tr '\\0' '\\n'", {"LEVEL": "full", "PATH": "/x"})
    assert "hunter2" not in bench.text
    home = bench.workspace.home
    assert dict(line.split("=", 1) for line in bench.text.splitlines()) == {
        "LEVEL": "full",
        "PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
        "HOME": str(home),
        "TMPDIR": str(home.parent / "tmp"),
        "LANG": "C.UTF-8",
    }


async def test_the_language_may_be_another(bench: Bench) -> None:
    await bench.run("echo $LANG", {"LANG": "de_DE.UTF-8"})
    assert bench.text == "de_DE.UTF-8\n"


async def test_no_core_is_dumped(bench: Bench) -> None:
    await bench.run("ulimit -c; ulimit -Hc")
    assert bench.text == "0\n0\n"


async def test_a_step_does_not_wait_for_what_it_left_in_the_background(bench: Bench) -> None:
    assert await bench.run("sleep 300 & echo $!") == 0
    assert is_alive(int(bench.text))


async def test_what_one_step_left_running_serves_the_next(bench: Bench) -> None:
    await bench.run("mkfifo pipe; (echo from-behind > pipe) &")
    assert await bench.run("cat pipe") == 0
    assert bench.text == "from-behind\n"


async def test_what_runs_in_the_background_goes_on_being_logged(bench: Bench) -> None:
    await bench.run("mkfifo go; (read -r < go; echo late) & true")
    await bench.run("echo > go")
    await bench.wrote("late\n")


async def test_a_stopped_command_may_clean_up_and_is_logged_meanwhile(bench: Bench) -> None:
    running = asyncio.create_task(
        bench.run("trap 'echo cleaning; exit 3' TERM; echo ready; while :; do sleep 0.01 || :; done")
    )
    await bench.wrote("ready")
    await bench.sandbox.stop(grace=LONG)
    assert await running == 3
    assert bench.text.startswith("ready\n")
    assert bench.text.endswith("cleaning\n")


async def test_a_command_that_ignores_sigterm_is_killed_after_the_grace(bench: Bench) -> None:
    running = asyncio.create_task(bench.run("trap '' TERM; echo ready; while :; do sleep 0.01 || :; done"))
    await bench.wrote("ready")
    await bench.sandbox.stop(grace=timedelta(milliseconds=100))
    assert await running == 137


async def test_children_and_grandchildren_go_with_the_command(bench: Bench) -> None:
    running = asyncio.create_task(bench.run("(sleep 300 & echo $!; wait) & sleep 300 & echo $!; echo ready; wait"))
    await bench.wrote("ready")
    await bench.sandbox.stop(grace=LONG)
    assert await running == 143
    assert [pid for pid in bench.text.split() if pid.isdecimal() and is_alive(int(pid))] == []


async def test_a_shorter_grace_overtakes_a_longer_one(bench: Bench) -> None:
    running = asyncio.create_task(bench.run("trap 'echo deaf' TERM; echo ready; while :; do sleep 0.01 || :; done"))
    await bench.wrote("ready")
    patient = asyncio.create_task(bench.sandbox.stop(grace=LONG))
    await bench.wrote("deaf")
    await bench.sandbox.stop(grace=timedelta())
    await patient
    assert await running == 137


async def test_a_command_that_cannot_start_says_so(bench: Bench) -> None:
    command = Command(script="true", directory=bench.workspace.root / "gone", environment={})
    with pytest.raises(NotStarted, match="No such file or directory"):
        await bench.sandbox.run(command)


@pytest.mark.inv("R1")
async def test_nothing_is_left_after_close(bench: Bench, tmp_path: Path) -> None:
    (tmp_path / "kept").mkdir()
    await bench.run("sleep 300 & echo $!; mkdir -p a/b; touch a/b/c; chmod 0 a/b a; ln -s ../../../kept link")
    await bench.sandbox.close()
    assert not is_alive(int(bench.text))
    assert os.listdir(tmp_path / "work") == []
    assert "kept" in os.listdir(tmp_path)


async def test_leftovers_of_an_earlier_process_are_removed_at_the_start(tmp_path: Path) -> None:
    (tmp_path / "work" / "run_old" / "repository").mkdir(parents=True)
    await ProcessSandbox(tmp_path / "work", clock=SystemClock()).clear()
    assert os.listdir(tmp_path / "work") == []
