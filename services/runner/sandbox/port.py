"""What the runner asks of a sandbox.

One sandbox holds one run at a time:

    clear                     once, at the start of the service: nothing of an earlier process is left
    open                      fresh, empty directories
    launch*, run*             one after the other; what one leaves running lives on for the next one
    renew                     whenever the lease is; without it everything ends by itself, runner or no runner
    stop                      at any time after open, from another task, as often as liked
    close                     always, also after a failure: everything ends, everything is deleted

Whatever a command writes to its standard output or error reaches `output` in order, also while it is being stopped,
and `output` is called from the event loop and must not block. `run` returns when the command itself has ended, also if
it was stopped; it never waits for what the command left in the background. A sandbox does not know limits of time
or results: those are the caller's.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Protocol

from services.kernel.errors import Permanent
from services.kernel.ids import RunId

Output = Callable[[bytes], None]


class NotStarted(Permanent):
    """The command could not be started."""

    code = "not_started"


class GuardGone(Permanent):
    """What keeps the run's processes has ended, and with it all of them."""

    code = "guard_gone"


class TeardownFailed(Permanent):
    """Something of the run is left: a process, or files."""

    code = "teardown_failed"


@dataclass(frozen=True, slots=True, kw_only=True)
class Workspace:
    """The directories of one run. Commands own `repository`, `home` and `temporary`; `git_home` stays empty."""

    root: Path

    @property
    def repository(self) -> Path:
        return self.root / "repository"

    @property
    def home(self) -> Path:
        return self.root / "home"

    @property
    def temporary(self) -> Path:
        return self.root / "tmp"

    @property
    def git_home(self) -> Path:
        return self.root / "git"


@dataclass(frozen=True, slots=True, kw_only=True)
class Command:
    """A script for `bash -eo pipefail`, and all the environment it gets beyond PATH, HOME, TMPDIR and LANG."""

    script: str
    directory: Path
    environment: Mapping[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Launch:
    """A program of the runner's own, all of its environment, and the descriptors that its output goes to."""

    argv: Sequence[str]
    directory: Path
    environment: Mapping[str, str]
    stdout: int
    stderr: int


class Launcher(Protocol):
    async def launch(self, launch: Launch) -> int:
        """The program's own exit code; 128 + n if signal n ended it.

        Raises:
            NotStarted: there is no such program or directory.
            GuardGone: what keeps the run's processes is gone, and they with it.
        """
        ...

    async def stop(self, *, grace: timedelta) -> None:
        """SIGTERM to everything of the run, and after `grace` SIGKILL; returns as soon as nothing is left.

        A shorter grace may be asked for while a longer one is being waited for.

        Raises:
            TeardownFailed: something outlived SIGKILL.
        """
        ...


class Sandbox(Launcher, Protocol):
    async def clear(self) -> None:
        """Delete what an earlier process of this service left behind.

        Raises:
            TeardownFailed: some of it is still there.
        """
        ...

    async def open(self, run: RunId, *, output: Output, lease_until: timedelta) -> Workspace:
        """Make the run's directories, all of them new. `lease_until` is a moment of `Clock.elapsed()`.

        Raises:
            TeardownFailed: an earlier run's are still in the way.
        """
        ...

    async def run(self, command: Command) -> int:
        """The command's own exit code; 128 + n if signal n ended it.

        Raises:
            NotStarted: no command ran; its directory is gone, for one.
            GuardGone: what keeps the run's processes is gone, and they with it.
        """
        ...

    def renew(self, *, lease_until: timedelta) -> None:
        """Let the run live until this moment of `Clock.elapsed()`."""
        ...

    async def close(self) -> None:
        """End everything without grace and delete the run's directories.

        Raises:
            TeardownFailed: something is left; it may be called again.
        """
        ...
