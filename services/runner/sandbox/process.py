"""Commands as plain processes of the runner's own user: a guard, but no walls. Refused outside a developer's machine.

Each command gets its own session, a scrubbed environment, a fresh HOME and TMPDIR, no standard input and no core dumps.
Everything of a run hangs on its guard, so nothing of it outlives the run, its lease or this process.
"""

import asyncio
import os
from asyncio.subprocess import DEVNULL
from contextlib import suppress
from datetime import timedelta
from pathlib import Path

from services.kernel.ids import RunId
from services.kernel.ports import Clock
from services.runner.sandbox.guard import program
from services.runner.sandbox.guard.client import Guard
from services.runner.sandbox.pipe import OutputPipe
from services.runner.sandbox.port import Command, Launch, NotStarted, Output, TeardownFailed, Workspace

PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

_SHELL = ("bash", "-eo", "pipefail", "-c", "--")
_LOOK_EVERY = timedelta(milliseconds=10)


class ProcessSandbox:
    """`kill` is how long SIGKILL may take to show. `reaper` is the process that inherits the orphans of this service.

    A reaper must be given only if it has no children but this service's processes.
    """

    def __init__(
        self, directory: Path, *, clock: Clock, kill: timedelta = timedelta(seconds=5), reaper: int | None = None
    ) -> None:
        self._directory = directory
        self._clock = clock
        self._kill = kill
        self._reaper = reaper
        self._spared: frozenset[int] = frozenset()
        self._guard: Guard | None = None
        self._workspace: Workspace | None = None
        self._pipe: OutputPipe | None = None

    async def clear(self) -> None:
        program.become_subreaper()
        if self._reaper is not None:
            ours = frozenset({os.getpid(), *program.descendants(os.getpid())})
            await self._end_all(self._reaper, spared=ours)
        self._directory.mkdir(parents=True, exist_ok=True)
        for left in sorted(self._directory.glob("run_*")):
            await _delete(left)

    async def open(self, run: RunId, *, output: Output, lease_until: timedelta) -> Workspace:
        workspace = Workspace(root=self._directory / run)
        await self.close()
        self._workspace = workspace
        await _delete(workspace.root)
        for directory in (workspace.repository, workspace.home, workspace.temporary, workspace.git_home):
            directory.mkdir(parents=True, mode=0o700)
        self._pipe = OutputPipe(output)
        self._spared = frozenset(program.descendants(os.getpid()))
        self._guard = await Guard.begin(lease_until=lease_until)
        return workspace

    def renew(self, *, lease_until: timedelta) -> None:
        if self._guard is not None:
            self._guard.renew(until=lease_until)

    async def launch(self, launch: Launch) -> int:
        if self._guard is None:
            raise NotStarted("the sandbox is not open")
        return await self._guard.launch(launch)

    async def run(self, command: Command) -> int:
        if self._workspace is None or self._pipe is None:
            raise NotStarted("the sandbox is not open")
        code = await self.launch(_shell(command, self._workspace, output=self._pipe.writing))
        self._pipe.catch_up()
        return code

    async def stop(self, *, grace: timedelta) -> None:
        if self._guard is None:
            return
        try:
            async with asyncio.timeout((grace + self._kill).total_seconds()):
                await self._guard.stop(grace=grace)
        except TimeoutError as error:
            raise TeardownFailed("a process outlived SIGKILL") from error

    async def close(self) -> None:
        if self._guard is not None:
            await self._end(self._guard)
            self._guard = None
        if self._pipe is not None:
            self._pipe.close()
            self._pipe = None
        if self._workspace is not None:
            await _delete(self._workspace.root)
            self._workspace = None

    async def _end(self, guard: Guard) -> None:
        try:
            async with asyncio.timeout(self._kill.total_seconds()):
                await guard.close()
        except TimeoutError:
            await guard.kill()
        # Of a guard that was killed the orphans are this process's children now.
        await self._end_all(os.getpid(), spared=self._spared)

    async def _end_all(self, ancestor: int, *, spared: frozenset[int]) -> None:
        end = self._clock.elapsed() + self._kill
        while killed := program.kill_all(ancestor, spared=spared):
            if self._clock.elapsed() >= end:
                raise TeardownFailed("a process outlived SIGKILL")
            await self._clock.sleep(_LOOK_EVERY)
            _reap(killed)


def _reap(pids: set[int]) -> None:
    """Take note of the ends of orphans that became this process's children; nobody else waits for them."""
    for pid in pids:
        with suppress(ChildProcessError):
            os.waitpid(pid, os.WNOHANG)


def _shell(command: Command, workspace: Workspace, *, output: int) -> Launch:
    given = {
        "PATH": PATH,
        "HOME": str(workspace.home),
        "TMPDIR": str(workspace.temporary),
    }
    return Launch(
        argv=(*_SHELL, command.script),
        directory=command.directory,
        environment={"LANG": "C.UTF-8", **command.environment, **given},
        stdout=output,
        stderr=output,
    )


async def _delete(path: Path) -> None:
    """Delete a tree without following its links; commands may have taken away our right to do so.

    A process of its own, for a large tree takes its time.
    """
    if await _succeeds("rm", "-rf", "--one-file-system", "--", str(path)):
        return
    await _succeeds("chmod", "-R", "--", "u+rwX", str(path))
    if not await _succeeds("rm", "-rf", "--one-file-system", "--", str(path)):
        raise TeardownFailed(f"{path.name} could not be deleted")


async def _succeeds(*command: str) -> bool:
    process = await asyncio.create_subprocess_exec(*command, stdin=DEVNULL, stdout=DEVNULL, stderr=DEVNULL)
    return await process.wait() == 0
