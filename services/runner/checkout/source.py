"""Where a commit comes from, checked before any git sees it. Pure."""

import re
from dataclasses import dataclass
from urllib.parse import urlsplit

from services.kernel.errors import Permanent
from services.kernel.ids import CommitSha, is_commit_sha
from services.kernel.wire.runs import Job

REMOTE = frozenset({"https"})
LOCAL = frozenset({"https", "http", "file"})
"""What a stack on one machine may fetch from besides."""


class CheckoutFailed(Permanent):
    """The commit could not be checked out."""

    code = "checkout_failed"


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """A repository, the branch a run is for, and the commit it is pinned to; without one, the branch's head (R13)."""

    url: str
    branch: str
    commit_sha: CommitSha | None

    @property
    def ref(self) -> str:
        """The branch in full: a bare name may be another thing's too, a commit's for one (A30)."""
        return f"refs/heads/{self.branch}"

    @classmethod
    def of(cls, job: Job, *, protocols: frozenset[str]) -> "Source":
        """What a job names.

        Raises:
            CheckoutFailed: a URL, branch or commit that is none, or a protocol that is not allowed here.
        """
        if (problem := _objection_to_url(job.repository_url, protocols)) is not None:
            raise CheckoutFailed(problem)
        if not is_branch(job.branch):
            raise CheckoutFailed("the branch's name is not one that git allows")
        if job.commit_sha is not None and not is_commit_sha(job.commit_sha):
            raise CheckoutFailed("the commit is not named by a full SHA")
        sha = None if job.commit_sha is None else CommitSha(job.commit_sha)
        return cls(url=job.repository_url, branch=job.branch, commit_sha=sha)


def is_branch(name: str) -> bool:
    """Whether `refs/heads/` and this is a ref, by git's own rules (git-check-ref-format(1))."""
    if re.search(r"[\x00-\x20\x7f~^:?*\[\\]|\.\.|@\{|//", name) or not name:
        return False
    parts = name.split("/")
    return not name.endswith(".") and all(part and part[0] != "." and not part.endswith(".lock") for part in parts)


def _objection_to_url(url: str, protocols: frozenset[str]) -> str | None:
    if re.search(r"[\x00-\x20\x7f]", url):
        return "the repository's URL contains a blank or a control character"
    try:
        parts = urlsplit(url)
        host = parts.hostname
    except ValueError:
        return "the repository's URL cannot be read"
    if parts.scheme not in protocols:
        return f"the repository's URL must begin with {' or '.join(f'{name}://' for name in sorted(protocols))}"
    if "@" in parts.netloc:
        return "the repository's URL must not carry a user or password"
    if parts.scheme == "file":
        return None if parts.path.startswith("/") and not parts.netloc else "a file:// URL names an absolute path"
    return None if host else "the repository's URL names no host"
