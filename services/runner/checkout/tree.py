"""What the runner itself reads of a commit: from the object store, never through the work tree's links (A32)."""

from services.kernel.ids import CommitSha
from services.runner.checkout.git import Git
from services.runner.pipeline import ConfigInvalid
from services.runner.pipeline.model import MAX_FILE


async def read_config(git: Git, commit: CommitSha, path: str) -> bytes:
    """The pipeline file as it is in the commit.

    Raises:
        ConfigInvalid: there is none, it is no regular file, or it is too large.
    """
    found = await _entry(git, commit, path)
    if found is None:
        raise ConfigInvalid(f"there is no {path!r} in this commit")
    mode, blob, size = found
    if mode == "120000":
        raise ConfigInvalid(f"{path!r} is a symbolic link; it must be a regular file")
    if mode not in ("100644", "100755"):
        raise ConfigInvalid(f"{path!r} is not a regular file")
    if size > MAX_FILE:
        raise ConfigInvalid(f"{path!r} has {size} bytes; at most {MAX_FILE} are allowed")
    return await git.must("cat-file", "blob", blob)


async def remarks(git: Git, commit: CommitSha) -> list[str]:
    """What was deliberately not fetched, for the log."""
    said: list[str] = []
    if await _entry(git, commit, ".gitmodules") is not None:
        said.append("this repository has submodules; they are not checked out")
    match await _entry(git, commit, ".gitattributes"):
        case ("100644" | "100755", blob, _) if b"filter=lfs" in await git.must("cat-file", "blob", blob):
            said.append("this repository uses Git LFS; its files are left as pointers")
        case _:
            pass
    return said


async def _entry(git: Git, commit: CommitSha, path: str) -> tuple[str, str, int] | None:
    """Mode, object and size of what the commit has at exactly this path; a link on the way leads nowhere."""
    listed = await git.run("ls-tree", "-z", "-l", "--full-tree", commit, "--", path)
    for entry in listed.stdout.decode(errors="replace").split("\0"):
        described, _, name = entry.partition("\t")
        if name == path:
            mode, kind, blob, size = described.split()
            return mode, blob, int(size) if kind == "blob" else 0
    return None
