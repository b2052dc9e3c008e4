"""Google's Firestore emulator for any test that asks: one for the session and all its workers, one project a test."""

import fcntl
import os
import secrets
import subprocess
import sys
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NoReturn

import pytest

from services.kernel.adapters.firestore_database import EMULATOR, Database
from services.local.emulator.installation import ADVICE

_KEEPER = pytest.StashKey[subprocess.Popen[str]]()
"""A keeper may outlive this run of the tests, which therefore never waits for it."""

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="session")
def firestore_emulator(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """`host:port` of an emulator; without one the test is skipped, or fails where `CI` is `true`."""
    if given := os.environ.get(EMULATOR):
        # In a process of its own: an event loop may be running in this one.
        subprocess.run([sys.executable, "-m", "services.local.emulator.warmth", given], cwd=ROOT, check=True)
        yield given
        return
    base = tmp_path_factory.getbasetemp()
    folder = (base.parent if hasattr(request.config, "workerinput") else base) / "firestore-emulator"
    folder.mkdir(exist_ok=True)
    with _shared(folder, request.config) as address:
        yield address or _without()


@pytest.fixture
def firestore(firestore_emulator: str) -> Database:
    """An empty database."""
    return Database(project=f"demo-{secrets.token_hex(8)}", emulator=firestore_emulator)


@contextmanager
def _shared(folder: Path, config: pytest.Config) -> Generator[str | None]:
    """The folder's emulator, started by whoever comes first and kept while anybody is here; None if there is none."""
    with (folder / "users").open("a") as users:
        with (folder / "start").open("a") as start:
            fcntl.flock(start, fcntl.LOCK_EX)
            fcntl.flock(users, fcntl.LOCK_SH)
            address = _running(folder) or _started(folder, config)
        yield address


def _running(folder: Path) -> str | None:
    file = folder / "address"
    return file.read_text() if file.exists() else None


def _started(folder: Path, config: pytest.Config) -> str | None:
    keeper = config.stash[_KEEPER] = subprocess.Popen(
        [sys.executable, "-m", "tests.emulator.keeper", str(folder)],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    assert keeper.stdout is not None
    with keeper.stdout:
        return keeper.stdout.readline().strip() or None


def _without() -> NoReturn:
    if os.environ.get("CI") == "true":
        pytest.fail(ADVICE, pytrace=False)
    pytest.skip(ADVICE)
