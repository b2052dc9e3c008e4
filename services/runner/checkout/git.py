"""git as a command that reads no configuration, asks nobody, runs no hook, follows no redirect and ends in time.

Every flag meets an attack (A24 to A39 in docs/security.md). Never called in a work tree that commands have already
touched: whatever they wrote there would run as the runner (A33).
"""

import asyncio
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

from services.runner.checkout.capture import Capture
from services.runner.checkout.source import CheckoutFailed
from services.runner.sandbox import Launch, Launcher, NotStarted

_AT_ONCE = timedelta()

_CONFIGURATION = (
    "core.hooksPath=/dev/null",
    "core.fsmonitor=false",
    "safe.bareRepository=explicit",
    "http.followRedirects=false",
    "http.lowSpeedLimit=1000",
    "http.lowSpeedTime=30",
    "credential.helper=",
    "transfer.credentialsInUrl=die",
    "transfer.bundleURI=false",
    "fetch.fsckObjects=true",
    # Old repositories in good standing contain zero-padded file modes.
    "fetch.fsck.zeroPaddedFilemode=ignore",
    "submodule.recurse=false",
    "protocol.allow=never",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Output:
    """What a git command wrote, each stream cut at the cap, and its exit code."""

    code: int
    stdout: bytes
    stderr: bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class Git:
    """Runs git in `directory`. `home` is an empty directory; `limit` is the wall clock of one command.

    A command that is given up takes everything else of `processes` with it: nothing else may run there.
    """

    processes: Launcher
    directory: Path
    home: Path
    protocols: frozenset[str]
    limit: timedelta
    path: str = "/usr/local/bin:/usr/bin:/bin"
    cap: int = 1024 * 1024

    async def run(self, *arguments: str) -> Output:
        """The command's output, whatever its exit code.

        Raises:
            CheckoutFailed: it ran past the limit, or git could not be started.
        """
        stdout, stderr = Capture(cap=self.cap), Capture(cap=self.cap)
        done = False
        try:
            async with asyncio.timeout(self.limit.total_seconds()):
                code = await self.processes.launch(
                    self._launch(arguments, stdout=stdout.writing, stderr=stderr.writing)
                )
                output = Output(code=code, stdout=await stdout.all(), stderr=await stderr.all())
            done = True
        except TimeoutError as error:
            raise CheckoutFailed(f"git {arguments[0]} took longer than {self.limit.total_seconds():.0f} s") from error
        except NotStarted as error:
            raise CheckoutFailed(f"git could not be started: {error.detail}") from error
        finally:
            stdout.close()
            stderr.close()
            if not done:
                # Leave no helper of git behind, whoever gave it up.
                await self.processes.stop(grace=_AT_ONCE)
        return output

    async def must(self, *arguments: str) -> bytes:
        """The standard output of a command that has to succeed.

        Raises:
            CheckoutFailed: it did not; the message is git's own last word.
        """
        output = await self.run(*arguments)
        if output.code != 0:
            raise CheckoutFailed(f"git {arguments[0]} failed: {last_word(output.stderr)}")
        return output.stdout

    def _launch(self, arguments: tuple[str, ...], *, stdout: int, stderr: int) -> Launch:
        allowed = [f"protocol.{name}.allow=always" for name in sorted(self.protocols)]
        options = [word for setting in (*_CONFIGURATION, *allowed) for word in ("-c", setting)]
        return Launch(
            argv=("git", *options, "--literal-pathspecs", *arguments),
            directory=self.directory,
            environment=self._environment(),
            stdout=stdout,
            stderr=stderr,
        )

    def _environment(self) -> dict[str, str]:
        return {
            "PATH": self.path,
            "HOME": str(self.home),
            "LC_ALL": "C",
            # A repository that happens to lie around the directory is not ours.
            "GIT_CEILING_DIRECTORIES": str(self.directory.parent),
            "GIT_CONFIG_NOSYSTEM": "1",
            "GIT_CONFIG_GLOBAL": "/dev/null",
            "GIT_TERMINAL_PROMPT": "0",
            "GIT_ASKPASS": "/bin/false",
            "GIT_ALLOW_PROTOCOL": ":".join(sorted(self.protocols)),
            "GIT_LFS_SKIP_SMUDGE": "1",
            "GIT_SSH_COMMAND": "/bin/false",
        }


def last_word(stderr: bytes) -> str:
    """Git's own reason in one line, without what would move a terminal's cursor (A36)."""
    text = "".join(sign for sign in stderr.decode(errors="replace") if sign.isprintable() or sign == "\n")
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    reasons = [line for line in lines if line.startswith(("fatal: ", "error: "))]
    return (reasons or lines or ["no reason given"])[0].removeprefix("fatal: ").removeprefix("error: ")[:300]
