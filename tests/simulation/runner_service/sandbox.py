"""A sandbox whose commands are played; git is real. What the production sandbox's guard promises holds here too."""

import asyncio
import shutil
from asyncio import sleep
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING

from services.kernel.ids import RunId
from services.runner.sandbox.port import Command, GuardGone, Launch, NotStarted, Output, Workspace
from tests.simulation.runner_service.effects import Did, Effect
from tests.simulation.runner_service.line import Port
from tests.simulation.runner_service.time import apart

if TYPE_CHECKING:
    from tests.simulation.runner_service.process import RunnerProcess

_SECOND = timedelta(seconds=1)
_KILLED = 137
_FOR_LONG = 10_000


@dataclass(slots=True)
class Kept:
    """One run's processes and what keeps them: a guard that outlives nobody's lease, and no runner."""

    process: "RunnerProcess"
    run: str
    workspace: Workspace
    output: Output
    lease_until: timedelta
    kill_at: timedelta | None = None
    over: bool = False
    launched: list[Launch] = field(default_factory=list[Launch])
    unread: list[bytes] = field(default_factory=list[bytes])
    alive: set[asyncio.Task[int]] = field(default_factory=set[asyncio.Task[int]])

    @property
    def dead(self) -> bool:
        """Whether nothing of it can act any more."""
        now = self.process.stage.clock.elapsed()
        return self.gone or (self.kill_at is not None and now >= self.kill_at)

    @property
    def gone(self) -> bool:
        now = self.process.stage.clock.elapsed()
        self.over = self.over or self.process.life.ended or now >= self.lease_until
        return self.over

    @property
    def head(self) -> str:
        """The commit that is checked out; nothing, if none is."""
        file = self.workspace.repository / ".git" / "HEAD"
        return file.read_text().strip() if file.exists() else ""

    def start(self, step: str, work: list[str], *, did: Did) -> asyncio.Task[int]:
        """A process of its own, which nobody's cancellation ends."""
        task = apart(self._play(step, work, did=did))
        self.alive.add(task)
        task.add_done_callback(self.alive.discard)
        return task

    def flush(self) -> None:
        """Let the runner read what lies in the pipe, unless it is stopped or gone."""
        if self.process.life.running.is_set() and not self.process.life.ended:
            while self.unread:
                self.output(self.unread.pop(0))

    def did(self, step: str, did: Did, *, code: int = 0) -> None:
        stage = self.process.stage
        at = stage.clock.elapsed().total_seconds()
        stage.truth.acted(Effect(run=self.run, step=step, did=did, commit=self.head, at=at, code=code), self)
        if did is Did.WORKED:
            text = f"{step} at {at}\n"
            stage.truth.written[self.run] += text
            self.unread.append(text.encode())
            self.flush()

    async def _play(self, step: str, work: list[str], *, did: Did) -> int:
        for word, _, number in (each.strip().partition(" ") for each in work):
            match word:
                case "work":
                    for _ in range(int(number)):
                        await self.process.stage.clock.sleep(_SECOND)
                        if self.dead:
                            return _KILLED
                        self.did(step, did)
                case "leave":
                    _ = self.start(step, [f"work {_FOR_LONG}"], did=Did.LEFT_BEHIND_WORKED)
                case "exit":
                    return int(number)
                case _:
                    raise ValueError(word)
        return 0


class PlayedSandbox:
    """Implements `Sandbox` for one process. A script is `: its name; work 3; leave; exit 2` or a part of that.

    To work is to do something each second, to leave is to go on working in the background. Commands do not listen to
    SIGTERM.
    """

    def __init__(self, process: "RunnerProcess", directory: Path) -> None:
        self._process = process
        self._directory = directory
        self.kept: Kept | None = None

    async def clear(self) -> None:
        async with self._process.around(Port.SANDBOX, "clear"):
            for left in sorted(self._directory.glob("run_*")):
                shutil.rmtree(left)

    async def open(self, run: RunId, *, output: Output, lease_until: timedelta) -> Workspace:
        async with self._process.around(Port.SANDBOX, "open"):
            workspace = Workspace(root=self._directory / run)
            if workspace.root.exists():
                shutil.rmtree(workspace.root)
            for each in (workspace.repository, workspace.home, workspace.temporary, workspace.git_home):
                each.mkdir(parents=True)
            self.kept = Kept(self._process, run, workspace, output, lease_until)
            self._process.stage.truth.opened(self.kept)
        return workspace

    def renew(self, *, lease_until: timedelta) -> None:
        if self.kept is not None and not self.kept.gone:
            self.kept.lease_until = lease_until

    async def launch(self, launch: Launch) -> int:
        argv = list(launch.argv)
        # The real one speaks to its guard first.
        await sleep(0)
        async with self._process.around(Port.LAUNCH, argv[argv.index("--literal-pathspecs") + 1]):
            return self._process.stage.git.launched(launch, self._there().launched)

    async def run(self, command: Command) -> int:
        name, *work = command.script.removeprefix(": ").split(";")
        async with self._process.around(Port.SANDBOX, f"run {name}"):
            kept = self._there()
            kept.did(name, Did.BEGAN)
            running = kept.start(name, work, did=Did.WORKED)
            await asyncio.wait({running})
            await self._process.life.passes()
            if kept.gone:
                raise GuardGone("the guard has ended")
            kept.did(name, Did.ENDED, code=running.result())
            kept.flush()
        return running.result()

    async def stop(self, *, grace: timedelta) -> None:
        async with self._process.around(Port.SANDBOX, "stop"):
            if (kept := self.kept) is None:
                return
            end = self._process.stage.clock.elapsed() + grace
            kept.kill_at = end if kept.kill_at is None else min(end, kept.kill_at)
            if kept.alive:
                await asyncio.wait(set(kept.alive))
            kept.kill_at = None

    async def close(self) -> None:
        async with self._process.around(Port.SANDBOX, "close"):
            if (kept := self.kept) is None:
                return
            kept.over = True
            kept.flush()
            if kept.alive:
                await asyncio.wait(set(kept.alive))
            shutil.rmtree(kept.workspace.root)
            self.kept = None
            self._process.stage.truth.torn_down(kept.run)

    def _there(self) -> Kept:
        if self.kept is None:
            raise NotStarted("the sandbox is not open")
        if self.kept.gone:
            raise GuardGone("the guard has ended")
        return self.kept
