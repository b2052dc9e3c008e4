"""`anvil up` as a process: what it says, and that nothing of it stays. Only the platform is started."""

import contextlib
import os
import re
import signal
import subprocess
import sys
from collections.abc import Generator
from pathlib import Path

import httpx2
import pytest

UP = """
import pathlib, sys
from services.local.up import run

sys.exit(run(state_dir=pathlib.Path(sys.argv[1]), port=0, services=("platform",), store="sqlite"))
"""


@contextlib.contextmanager
def up(root: Path) -> Generator[subprocess.Popen[str]]:
    with subprocess.Popen(
        [sys.executable, "-c", UP, str(root)], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    ) as process:
        try:
            yield process
        finally:
            process.kill()


def said_until(process: subprocess.Popen[str], part: str) -> str:
    said = ""
    assert process.stdout is not None
    for line in process.stdout:
        said += line
        if part in line:
            return said
    raise AssertionError(said)


def platform_url(process: subprocess.Popen[str]) -> str:
    said = said_until(process, "Ctrl-C stops it")
    found = re.search(r"platform +(http://127\.0\.0\.1:\d+)", said)
    assert found is not None, said
    return found[1]


def until_refused(url: str) -> None:
    """Ask until nobody listens any more; the test's time limit ends the wait."""
    with contextlib.suppress(httpx2.ConnectError):
        while True:
            with contextlib.suppress(httpx2.ReadError, httpx2.RemoteProtocolError):
                httpx2.get(f"{url}/livez", trust_env=False)


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_stops_it_cleanly(tmp_path: Path, how: signal.Signals) -> None:
    with up(tmp_path) as process:
        url = platform_url(process)
        assert httpx2.get(f"{url}/health/ready", trust_env=False).status_code == 200
        process.send_signal(how)
        said_until(process, "stopping")
        assert process.wait() == 0
        with pytest.raises(httpx2.ConnectError):
            httpx2.get(f"{url}/livez", trust_env=False)


def test_its_processes_do_not_outlive_it_when_it_is_killed(tmp_path: Path) -> None:
    with up(tmp_path) as process:
        url = platform_url(process)
        os.kill(process.pid, signal.SIGKILL)
        process.wait()
        until_refused(url)


def test_a_second_one_on_the_same_directory_says_why_it_does_not_start(tmp_path: Path) -> None:
    with up(tmp_path) as first:
        platform_url(first)
        with up(tmp_path) as second:
            assert f"another `anvil up` runs on {tmp_path}" in said_until(second, "another")
            assert second.wait() == 1


ON_FIRESTORE = """
import pathlib, sys
from services.local.up import run

sys.exit(run(state_dir=pathlib.Path(sys.argv[1]), port=0, services=(), store="firestore"))
"""


def test_where_there_is_no_emulator_it_says_how_to_get_one(tmp_path: Path) -> None:
    without = {"PATH": "/nowhere", "HOME": str(tmp_path)}
    command = [sys.executable, "-c", ON_FIRESTORE, str(tmp_path / "state")]
    ended = subprocess.run(command, check=False, capture_output=True, text=True, env=without)
    assert ended.returncode == 1
    assert "There is no Firestore emulator here. Any of these makes one:" in ended.stdout
    assert "Traceback" not in ended.stdout + ended.stderr
