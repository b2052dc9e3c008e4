"""One running process of the local stack, and the process group that it leads."""

import asyncio
import contextlib
import os
import signal
import subprocess
from datetime import timedelta
from pathlib import Path
from typing import Self

from services.local.program import SOURCES, Program

_POLL = timedelta(milliseconds=5)
_GONE_WITHIN = timedelta(seconds=5)


class Process:
    """Leads a group of its own, so that Ctrl-C reaches the supervisor alone, and so that nothing of it is left behind:
    a gunicorn master that is killed leaves its worker serving on the port.
    """

    def __init__(self, leader: subprocess.Popen[bytes]) -> None:
        self._leader = leader

    @classmethod
    def start(cls, program: Program) -> Self:
        with program.log.open("ab") as log:
            return cls(
                subprocess.Popen(
                    program.command,
                    cwd=SOURCES,
                    env=program.environment,
                    stdin=subprocess.DEVNULL,
                    stdout=log,
                    stderr=subprocess.STDOUT,
                    start_new_session=True,
                )
            )

    @property
    def pid(self) -> int:
        return self._leader.pid

    async def ended(self) -> int:
        """Its exit code, or minus the signal that ended it, once it has ended and its group is dead."""
        if self._leader.returncode is None:
            await self._until_dead()
            # Before the leader is reaped: until then nobody else can be given its number.
            self.kill()
            await _until_gone(self.pid)
        return self._leader.wait()

    async def stop(self, *, grace: timedelta) -> None:
        """SIGTERM, then SIGKILL for the group when the grace is over."""
        if self._leader.returncode is not None:
            return
        self._leader.send_signal(signal.SIGTERM)
        try:
            async with asyncio.timeout(grace.total_seconds()):
                await self.ended()
        except TimeoutError:
            self.kill()
            await self.ended()

    def kill(self) -> None:
        """SIGKILL for the whole group."""
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.pid, signal.SIGKILL)

    async def _until_dead(self) -> None:
        loop = asyncio.get_running_loop()
        dead = asyncio.Event()
        watched = os.pidfd_open(self.pid)
        loop.add_reader(watched, dead.set)
        try:
            await dead.wait()
        finally:
            loop.remove_reader(watched)
            os.close(watched)


async def _until_gone(group: int) -> None:
    """Until no process of a killed group runs: the kernel takes a moment to free what it held, its port too."""
    for _ in range(_GONE_WITHIN // _POLL):
        if not _runs(group):
            return
        await asyncio.sleep(_POLL.total_seconds())


def _runs(group: int) -> bool:
    return any(_runs_in(group, process) for process in Path("/proc").glob("[0-9]*"))


def _runs_in(group: int, process: Path) -> bool:
    """Whether a process (its folder in /proc) is one of the group, and more than an entry waiting to be reaped."""
    try:
        stat = (process / "stat").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return False
    # After the name, which may hold anything: state, parent, group (proc(5)).
    state, _, found = stat.rpartition(")")[2].split()[:3]
    return found == str(group) and state not in "ZX"
