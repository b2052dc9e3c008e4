"""Commands as plain processes of the runner's own user: no walls at all. For a developer's machine, refused elsewhere.

Each command gets its own session, a scrubbed environment, a fresh HOME and TMPDIR, no standard input and no core dumps.
A process that leaves its command's group by `setsid` is not found again; it takes a guard that adopts orphans for that.
"""

import asyncio
import signal
from asyncio.subprocess import DEVNULL, STDOUT, Process
from datetime import timedelta
from pathlib import Path

from services.kernel.ids import RunId
from services.kernel.ports import Clock
from services.runner.sandbox.groups import Groups
from services.runner.sandbox.pipe import OutputPipe
from services.runner.sandbox.port import Command, NotStarted, Output, TeardownFailed, Workspace

PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

_SHELL = ("prlimit", "--core=0:0", "--", "bash", "-eo", "pipefail", "-c", "--")
_NOTHING = timedelta()


class ProcessSandbox:
    """`kill` is how long SIGKILL may take to show."""

    def __init__(self, directory: Path, *, clock: Clock, kill: timedelta = timedelta(seconds=5)) -> None:
        self._directory = directory
        self._groups = Groups(clock)
        self._kill = kill
        self._workspace: Workspace | None = None
        self._pipe: OutputPipe | None = None

    async def clear(self) -> None:
        self._directory.mkdir(parents=True, exist_ok=True)
        for left in sorted(self._directory.glob("run_*")):
            await _delete(left)

    async def open(self, run: RunId, *, output: Output) -> Workspace:
        workspace = Workspace(root=self._directory / run)
        await self.close()
        self._workspace = workspace
        await _delete(workspace.root)
        for directory in (workspace.repository, workspace.home, workspace.temporary, workspace.git_home):
            directory.mkdir(parents=True, mode=0o700)
        self._pipe = OutputPipe(output)
        return workspace

    async def run(self, command: Command) -> int:
        if self._workspace is None or self._pipe is None:
            raise NotStarted("the sandbox is not open")
        process = await self._start(command, self._workspace, self._pipe)
        self._groups.add(process.pid)
        code = await process.wait()
        self._groups.look()
        self._pipe.catch_up()
        return code if code >= 0 else 128 - code

    async def stop(self, *, grace: timedelta) -> None:
        self._groups.signal(signal.SIGTERM)
        if await self._groups.gone(within=grace):
            return
        self._groups.signal(signal.SIGKILL)
        if not await self._groups.gone(within=self._kill):
            raise TeardownFailed("a process outlived SIGKILL")

    async def close(self) -> None:
        await self.stop(grace=_NOTHING)
        if self._pipe is not None:
            self._pipe.close()
            self._pipe = None
        if self._workspace is not None:
            await _delete(self._workspace.root)
            self._workspace = None

    async def _start(self, command: Command, workspace: Workspace, pipe: OutputPipe) -> Process:
        given = {
            "PATH": PATH,
            "HOME": str(workspace.home),
            "TMPDIR": str(workspace.temporary),
            "LANG": "C.UTF-8",
        }
        try:
            return await asyncio.create_subprocess_exec(
                *(*_SHELL, command.script),
                cwd=command.directory,
                env={**command.environment, **given},
                stdin=DEVNULL,
                stdout=pipe.writing,
                stderr=STDOUT,
                start_new_session=True,
            )
        except OSError as error:
            raise NotStarted(f"the command could not be started: {error.strerror}") from error


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
