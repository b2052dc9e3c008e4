"""A run in a whole stack, and all the processes that it hangs on."""

import os
import select
import signal
import socket
import time
from collections.abc import Generator, Iterable
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

from services.kernel.runs import Status
from services.kernel.wire.runs import RunView
from services.local.addresses import Service
from services.local.stack import Stack
from services.runner.sandbox.guard import program
from tests.e2e.runner.between import Between
from tests.e2e.stack.workplace import Workplace
from tests.unit.local.reports import Reports
from tests.unit.runner.processes import is_alive, until

LEASE = timedelta(seconds=4)
STALE = timedelta(seconds=5)
NUMBERS = {
    "ANVIL_HEARTBEAT_SECONDS": "0.5",
    "ANVIL_LEASE_SECONDS": f"{LEASE.total_seconds():.0f}",
    "ANVIL_STALE_SECONDS": f"{STALE.total_seconds():.0f}",
    "ANVIL_GRACE_SECONDS": "1",
}

ESCAPED = """\
(setsid nohup sleep 300 > /dev/null 2>&1 &)
setsid bash -c 'trap "" TERM INT HUP; while :; do sleep 300; done' &
(setsid bash -c 'sleep 300 & sleep 300 & disown -a; exec sleep 300' &)
"""
"""Processes that do not want to end: forked twice, in sessions of their own, deaf to hangups and signals."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Life:
    """`record` is where commands note, by `on_the_record`, when they were alive."""

    stack: Stack
    reports: Reports
    between: Between
    workplace: Workplace
    record: Path

    @property
    def master(self) -> int:
        """The runner's gunicorn."""
        return self.stack.pid(Service.RUNNER)

    @property
    def worker(self) -> int:
        """The runner itself."""
        (worker,) = (pid for pid in _children(self.master) if b"gunicorn" in _read(pid, "cmdline"))
        return worker

    @property
    def guard(self) -> int:
        """The guard of the run at hand."""
        (guard,) = (pid for pid in _children(self.worker) if _read(pid, "cmdline").count(_GUARD))
        return guard

    @staticmethod
    def command_line(pid: int) -> bytes:
        return _read(pid, "cmdline")

    def left(self) -> set[int]:
        """Everything that a run started, however far it got away: its environment or command line names its place."""
        place = f"{self.stack.state.work}/run_".encode()
        pids = [int(entry) for entry in os.listdir("/proc") if entry.isdecimal()]
        return {pid for pid in pids if place in _read(pid, "environ") + _read(pid, "cmdline") and is_alive(pid)}

    def on_the_record(self) -> str:
        """A script that notes all the time that its run is alive, until the gate is open."""
        note = f'echo "$ANVIL_RUN_ID $(cut -d" " -f1 /proc/uptime)" >> {self.record}'
        return f"{ESCAPED}while {note}; [ ! -e {self.workplace.gate} ]; do sleep 0.03; done"

    def intervals(self) -> dict[str, tuple[float, float]]:
        """From when to when each run's commands were alive, in seconds of CLOCK_BOOTTIME."""
        found: dict[str, tuple[float, float]] = {}
        for run, at in (line.split() for line in self.record.read_text().splitlines()):
            found[run] = (min(found.get(run, (float(at), 0))[0], float(at)), float(at))
        return found

    async def begun(self) -> str:
        """A run whose command is on the record."""
        run = await self.workplace.run_of(self.workplace.push(self.workplace.commit(self.on_the_record())))
        await self.recorded(run)
        return run

    async def recorded(self, run: str) -> None:
        await until(lambda: self.record.exists() and run in self.record.read_text())

    async def next_passes(self) -> None:
        """Another run is executed, and nothing of any run is left then."""
        run = await self.workplace.run_of(self.workplace.push(self.workplace.commit("true")))
        view = await self.workplace.finished(run)
        assert (view.run.status, view.reason) == (Status.PASSED, None), view
        await until(lambda: not self.left())

    async def everything(self, run: str) -> tuple[RunView, str]:
        """All that the coordinator tells of a run."""
        return await self.workplace.api.run(run), (await self.workplace.api.log(run))[0]


def send(number: signal.Signals, pids: Iterable[int]) -> None:
    for pid in pids:
        os.kill(pid, number)


def boottime() -> timedelta:
    return timedelta(seconds=time.clock_gettime(time.CLOCK_BOOTTIME))


@contextmanager
def silent() -> Generator[socket.socket]:
    """A server that takes connections and never says a word."""
    with socket.socket() as server:
        server.bind(("127.0.0.1", 0))
        server.listen()
        yield server


def is_asked(server: socket.socket) -> bool:
    """Whether somebody waits for a word of it."""
    return bool(select.select([server], [], [], 0)[0])


_GUARD = program.__file__.encode()


def _children(pid: int) -> list[int]:
    return [int(child) for child in _read(pid, f"task/{pid}/children").split()]


def _read(pid: int, what: str) -> bytes:
    try:
        return Path(f"/proc/{pid}/{what}").read_bytes()
    except OSError:
        return b""
