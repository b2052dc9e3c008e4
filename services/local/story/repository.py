"""A real Git repository to push to: bare, on this machine, reached by a `file://` URL."""

import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Self

# What no machine's or person's Git configuration may change.
_ENVIRONMENT = {
    "GIT_CONFIG_GLOBAL": "/dev/null",
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_AUTHOR_NAME": "Ada",
    "GIT_AUTHOR_EMAIL": "ada@example.com",
    "GIT_COMMITTER_NAME": "Ada",
    "GIT_COMMITTER_EMAIL": "ada@example.com",
    "PATH": "/usr/local/bin:/usr/bin:/bin",
}


class Repository:
    """A bare repository, and a clone of it in which commits are made."""

    def __init__(self, bare: Path, clone: Path) -> None:
        self._bare = bare
        self._clone = clone

    @classmethod
    def make(cls, folder: Path) -> Self:
        """An empty one with the branch `main`, in a folder of its own."""
        folder.mkdir(parents=True)
        made = cls(folder / "origin.git", folder / "clone")
        made._git("init", "--quiet", "--bare", "--initial-branch=main", str(made._bare), inside=folder)
        made._git("init", "--quiet", "--initial-branch=main", str(made._clone), inside=folder)
        made._git("remote", "add", "origin", str(made._bare))
        return made

    @property
    def url(self) -> str:
        return self._bare.as_uri()

    def commit(self, message: str, *, files: Mapping[str, str]) -> str:
        """Write the files, commit them to `main` and push; the commit's SHA. No webhook is sent by that."""
        for name, text in files.items():
            (self._clone / name).write_text(text)
        self._git("add", "--all")
        self._git("commit", "--quiet", "--allow-empty", "--message", message)
        self._git("push", "--quiet", "origin", "main")
        return self._git("rev-parse", "HEAD").strip()

    def _git(self, *arguments: str, inside: Path | None = None) -> str:
        finished = subprocess.run(
            ("git", *arguments),
            cwd=inside or self._clone,
            env=_ENVIRONMENT,
            check=True,
            capture_output=True,
            text=True,
        )
        return finished.stdout
