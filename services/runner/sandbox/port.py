"""What the runner asks of a sandbox.

One sandbox holds one run at a time:

    clear                     once, at the start of the service: nothing of an earlier process is left
    open                      fresh, empty directories
    run*                      one after the other; what a command leaves running lives on for the next one
    stop                      at any time after open, from another task, as often as liked
    close                     always, also after a failure: everything ends, everything is deleted

Whatever a command writes to its standard output or error reaches `output` in order, also while it is being stopped,
and `output` is called from the event loop and must not block. `run` returns when the command itself has ended, also if
it was stopped; it never waits for what the command left in the background. A sandbox does not know limits of time,
leases or results: those are the caller's.
"""

from collections.abc import Callable, Mapping
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


class Sandbox(Protocol):
    async def clear(self) -> None:
        """Delete what an earlier process of this service left behind.

        Raises:
            TeardownFailed: some of it is still there.
        """
        ...

    async def open(self, run: RunId, *, output: Output) -> Workspace:
        """Make the run's directories, all of them new.

        Raises:
            TeardownFailed: an earlier run's are still in the way.
        """
        ...

    async def run(self, command: Command) -> int:
        """The command's own exit code; 128 + n if signal n ended it.

        Raises:
            NotStarted: no command ran; its directory is gone, for one.
        """
        ...

    async def stop(self, *, grace: timedelta) -> None:
        """SIGTERM to everything inside, and after `grace` SIGKILL; returns as soon as nothing is left.

        A shorter grace may be asked for while a longer one is being waited for.

        Raises:
            TeardownFailed: something outlived SIGKILL.
        """
        ...

    async def close(self) -> None:
        """End everything without grace and delete the run's directories.

        Raises:
            TeardownFailed: something is left; it may be called again.
        """
        ...
