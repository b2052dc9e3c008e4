"""The command as a real process, on a machine of its own: home, working directory, programs, an ingress on loopback."""

import os
import sys
from collections.abc import AsyncGenerator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import anyio
import pytest

from services.kernel.adapters.local_minter import create_key
from tests.unit.cli.ingress import Ingress, serving

ROOT = Path(__file__).resolve().parents[3]


@dataclass(frozen=True, slots=True)
class Result:
    code: int
    out: str
    err: str


@dataclass(slots=True, kw_only=True)
class Anvil:
    """Starts the command where nothing but this directory is known to it."""

    home: Path
    environment: dict[str, str] = field(default_factory=dict[str, str])

    @property
    def state(self) -> Path:
        return self.home / ".local" / "state" / "anvil"

    @property
    def working(self) -> Path:
        return self.home / "work"

    def command(self, *arguments: str) -> list[str]:
        return [sys.executable, "-m", "services.cli.main", *arguments]

    def variables(self) -> Mapping[str, str]:
        own = {"HOME": str(self.home), "PATH": str(self.home / "bin"), "PYTHONPATH": str(ROOT)}
        return {**own, **self.environment}

    async def __call__(self, *arguments: str, stdin: str = "") -> Result:
        done = await anyio.run_process(
            self.command(*arguments), input=stdin.encode(), check=False, env=self.variables(), cwd=self.working
        )
        return Result(done.returncode, done.stdout.decode(), done.stderr.decode())

    def program(self, name: str, script: str) -> None:
        """Put a program on the command's path."""
        file = self.home / "bin" / name
        file.write_text(f"#!/bin/sh\n{script}\n")
        file.chmod(0o755)


@pytest.fixture(scope="session")
def key_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    key = tmp_path_factory.mktemp("issuer") / "issuer.pem"
    create_key(key)
    return key


@pytest.fixture
def stranger(tmp_path: Path) -> Anvil:
    """The command on a machine where no local stack ever ran."""
    anvil = Anvil(home=tmp_path)
    (tmp_path / "bin").mkdir()
    anvil.working.mkdir()
    return anvil


@pytest.fixture
async def ingress(key_file: Path) -> AsyncGenerator[Ingress]:
    async with serving(key_file) as ingress:
        yield ingress


@pytest.fixture
def anvil(stranger: Anvil, ingress: Ingress, key_file: Path) -> Anvil:
    """The command beside a local stack that runs: its key and its endpoint lie in the state directory."""
    stranger.state.mkdir(mode=0o700, parents=True)
    os.symlink(key_file, stranger.state / "issuer.pem")
    (stranger.state / "endpoint").write_text(f"{ingress.endpoint}\n")
    stranger.environment["ANVIL_PROJECT"] = "hello"
    return stranger
