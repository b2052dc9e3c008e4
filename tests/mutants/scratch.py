"""A copy of the sources, uncommitted changes included, in which a bug may be planted."""

import os
import shutil
import subprocess
import sys
from collections.abc import Generator
from compileall import compile_dir
from contextlib import contextmanager
from pathlib import Path
from py_compile import PycInvalidationMode

from tests.mutants.catalogue import ROOT


class DoesNotApply(Exception):
    """The patch does not fit the sources any more; with git's own words."""


class Scratch:
    """A copy under `root`, in which commands find the copy's sources and not the ones it was made from."""

    def __init__(self, root: Path) -> None:
        self.root = root

    @classmethod
    def make(cls, root: Path) -> "Scratch":
        for name in _versioned():
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, root / name)
        # Told by their content, not by their time: a patch comes and goes within the second that a file's time counts.
        compile_dir(root / "services", quiet=2, invalidation_mode=PycInvalidationMode.CHECKED_HASH)
        return cls(root)

    @contextmanager
    def planted(self, patch: Path) -> Generator[None]:
        """
        Raises:
            DoesNotApply: nothing was changed.
        """
        self._apply(patch)
        try:
            yield
        finally:
            self._apply(patch, "--reverse")

    def environment(self, **more: str) -> dict[str, str]:
        return {**os.environ, "PYTHONPATH": str(self.root), **more}

    def _apply(self, patch: Path, *options: str) -> None:
        apply(patch, *options, at=self.root)


def apply(patch: Path, *options: str, at: Path) -> None:
    """`git apply`, which takes a patch whose lines have moved.

    Raises:
        DoesNotApply: it does not; nothing was changed.
    """
    # Also where the copy happens to lie in a repository, whose paths are others.
    outside = {**os.environ, "GIT_CEILING_DIRECTORIES": str(at.parent)}
    done = subprocess.run(
        ["git", "apply", *options, str(patch)], cwd=at, env=outside, capture_output=True, text=True, check=False
    )
    if done.returncode != 0:
        raise DoesNotApply(done.stderr.strip())


def _versioned() -> list[str]:
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    return [name for name in listed.stdout.split("\0") if name and (ROOT / name).is_file()]


def pytest_command(*arguments: str) -> list[str]:
    """pytest, telling all that it found, without plugins that none of these tests needs and that take long to load."""
    options = ["-vv", "-o", "truncation_limit_lines=0", "-o", "truncation_limit_chars=0"]
    for plugin in ("cacheprovider", "hypothesispytest", "schemathesis", "xdist"):
        options += ["-p", f"no:{plugin}"]
    return [sys.executable, "-m", "pytest", *options, *arguments]
