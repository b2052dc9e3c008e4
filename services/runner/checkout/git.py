"""git as a command that reads no configuration, asks nobody, runs no hook, follows no redirect and ends in time.

Every flag meets an attack (THREATS, Git). Never called in a work tree that commands have already touched: whatever
they wrote there would run as the runner (FAULTS 1.8).
"""

import asyncio
import os
import signal
from asyncio.subprocess import DEVNULL, PIPE, Process
from contextlib import suppress
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

from services.runner.checkout.source import CheckoutFailed

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
    """Runs git in `directory`. `home` is an empty directory; `limit` is the wall clock of one command."""

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
        process = await self._start(arguments)
        try:
            async with asyncio.timeout(self.limit.total_seconds()):
                stdout, stderr = await asyncio.gather(_head(process.stdout, self.cap), _head(process.stderr, self.cap))
                code = await process.wait()
        except TimeoutError as error:
            raise CheckoutFailed(f"git {arguments[0]} took longer than {self.limit.total_seconds():.0f} s") from error
        finally:
            await _end(process)
        return Output(code=code, stdout=stdout, stderr=stderr)

    async def must(self, *arguments: str) -> bytes:
        """The standard output of a command that has to succeed.

        Raises:
            CheckoutFailed: it did not; the message is git's own last word.
        """
        output = await self.run(*arguments)
        if output.code != 0:
            raise CheckoutFailed(f"git {arguments[0]} failed: {last_word(output.stderr)}")
        return output.stdout

    async def _start(self, arguments: tuple[str, ...]) -> Process:
        allowed = [f"protocol.{name}.allow=always" for name in sorted(self.protocols)]
        options = [word for setting in (*_CONFIGURATION, *allowed) for word in ("-c", setting)]
        try:
            return await asyncio.create_subprocess_exec(
                *("git", *options, "--literal-pathspecs", *arguments),
                cwd=self.directory,
                env=self._environment(),
                stdin=DEVNULL,
                stdout=PIPE,
                stderr=PIPE,
                start_new_session=True,
            )
        except OSError as error:
            raise CheckoutFailed(f"git could not be started: {error.strerror}") from error

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


async def _head(stream: asyncio.StreamReader | None, cap: int) -> bytes:
    """The first `cap` bytes; the rest is read and dropped, so that the writer never blocks."""
    kept = bytearray()
    while stream is not None and (block := await stream.read(64 * 1024)):
        kept += block[: cap - len(kept)]
    return bytes(kept)


async def _end(process: Process) -> None:
    """Leave no helper of git behind: the whole group goes, and the command is reaped."""
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    await process.wait()
