"""A real repository to check out from."""

import os
import subprocess
from dataclasses import dataclass
from pathlib import Path

from services.kernel.ids import CommitSha
from services.runner.checkout.source import LOCAL, Source
from tests.unit.runner.desk import job

_IDENTITY = {f"GIT_{who}_{what}": "x@example.org" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}


@dataclass(frozen=True, slots=True)
class Origin:
    path: Path

    @classmethod
    def create(cls, path: Path, *, object_format: str = "sha1", exist_ok: bool = False) -> "Origin":
        path.mkdir(parents=True, exist_ok=exist_ok)
        origin = cls(path)
        origin.git("init", "--quiet", "--initial-branch=main", f"--object-format={object_format}")
        return origin

    @property
    def url(self) -> str:
        return f"file://{self.path}"

    def git(self, *arguments: str) -> str:
        done = subprocess.run(
            ["git", "-c", "protocol.file.allow=always", *arguments],
            cwd=self.path,
            env={"PATH": os.environ["PATH"], "HOME": str(self.path), "GIT_CONFIG_NOSYSTEM": "1", **_IDENTITY},
            check=True,
            capture_output=True,
            text=True,
        )
        return done.stdout.strip()

    def commit(self, files: dict[str, str] | None = None, *, amend: bool = False) -> CommitSha:
        """Write and commit these files; the commit's name."""
        for name, text in (files or {}).items():
            file = self.path / name
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text)
        self.git("add", "--all")
        self.git("commit", "--quiet", "--allow-empty", "--message=change", *(["--amend"] if amend else []))
        return self.head()

    def head(self, ref: str = "HEAD") -> CommitSha:
        return CommitSha(self.git("rev-parse", ref))


def source(url: str, *, branch: str = "main", sha: str | None = None) -> Source:
    """What a job for this repository names, where everything local is allowed."""
    return Source.of(job(url, branch=branch, sha=sha), protocols=LOCAL)
