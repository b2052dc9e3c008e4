"""Pages with `console` blocks, run as a person would run them: one shell, line after line."""

import asyncio
import re
from collections.abc import AsyncGenerator, Iterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

_BLOCK = re.compile(r"^```console\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_DONE = "\x04done\x04"


@dataclass(frozen=True, slots=True)
class Command:
    """What a person types, and the lines that the page promises; `…` stands for anything, one space for any number."""

    typed: str
    promised: tuple[str, ...]

    def keeps(self, printed: str) -> bool:
        pattern = "\n".join(_pattern(line) for line in self.promised)
        return re.fullmatch(pattern, re.sub(" +", " ", printed.strip("\n")), re.DOTALL) is not None


def commands(page: str) -> Iterator[Command]:
    for block in _BLOCK.findall(page):
        for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
            typed, *promised = part.rstrip("\n").split("\n")
            yield Command(typed, tuple(promised))


def _pattern(line: str) -> str:
    return ".*".join(re.escape(piece) for piece in re.sub(" +", " ", line).split("…"))


@dataclass(frozen=True, slots=True)
class Console:
    shell: asyncio.subprocess.Process

    async def run(self, typed: str) -> str:
        """All that the command prints, in either stream; `$?` stays its own for the next one."""
        assert self.shell.stdin is not None
        assert self.shell.stdout is not None
        line = f"(exit $status); {typed}\nstatus=$?; printf '{_DONE}\\n'\n"
        self.shell.stdin.write(line.encode())
        await self.shell.stdin.drain()
        printed = await self.shell.stdout.readuntil(f"{_DONE}\n".encode())
        return printed.decode().removesuffix(f"{_DONE}\n")


@asynccontextmanager
async def console(folder: Path, environment: Mapping[str, str]) -> AsyncGenerator[Console]:
    shell = await asyncio.create_subprocess_exec(
        "bash",
        cwd=folder,
        env=dict(environment),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
    )
    assert shell.stdin is not None
    try:
        shell.stdin.write(b"status=0\n")
        yield Console(shell)
    finally:
        shell.stdin.close()
        await shell.wait()
