"""The steps from an empty directory to exactly the commit, and the proof that it is that one."""

from services.kernel.ids import CommitSha, is_commit_sha
from services.runner.checkout.git import Git, last_word
from services.runner.checkout.source import CheckoutFailed, Source

_NEEDS_ALL = (
    b"unadvertised object",  # a server of protocol version 0
    b"not our ref",
    b"shallow capabilities",  # a server that only hands out files
)


async def checkout(git: Git, source: Source) -> CommitSha:
    """Check the commit out in git's (empty) directory, and name it.

    Raises:
        CheckoutFailed: the commit is not to be had; one sentence says why.
    """
    wanted = source.commit_sha
    wide = len(wanted if wanted is not None else await _head_of(git, source)) == 64
    await git.must("init", "--quiet", "--template=", f"--object-format={'sha256' if wide else 'sha1'}")
    start = await _fetch_commit(git, source, wanted) if wanted is not None else await _fetch_branch(git, source)
    await git.must("checkout", "--quiet", "--detach", start)
    head = CommitSha((await git.must("rev-parse", "--verify", "HEAD^{commit}")).decode().strip())
    if not is_commit_sha(head) or (wanted is not None and head != wanted):
        raise CheckoutFailed(f"asked for commit {wanted}, but git checked out {head[:64]}")
    return head


async def _head_of(git: Git, source: Source) -> str:
    """The branch's head now; what matters is only the length of its name, for the head may move before the fetch."""
    listed = await git.must("ls-remote", "--end-of-options", source.url, source.ref)
    for line in listed.decode(errors="replace").splitlines():
        sha, _, ref = line.partition("\t")
        # A pattern also matches longer refs that end alike.
        if ref == source.ref and is_commit_sha(sha):
            return sha
    raise CheckoutFailed(f"there is no branch {source.branch!r} in the repository")


async def _fetch_commit(git: Git, source: Source, sha: CommitSha) -> str:
    """Fetch the commit alone if the server allows it, else all branches; what to check out then, never a name."""
    if await _fetch(git, source, sha, shallow=True):
        return "FETCH_HEAD"
    await _fetch(git, source, "+refs/heads/*:refs/fetched/*", shallow=False)
    if (await git.run("cat-file", "-e", f"{sha}^{{commit}}")).code != 0:
        raise CheckoutFailed(f"commit {sha} is not in the repository any more")
    return f"{sha}^{{commit}}"


async def _fetch_branch(git: Git, source: Source) -> str:
    if not await _fetch(git, source, source.ref, shallow=True):
        await _fetch(git, source, source.ref, shallow=False)
    return "FETCH_HEAD"


async def _fetch(git: Git, source: Source, refspec: str, *, shallow: bool) -> bool:
    """Whether it was fetched; False if a shallow fetch of this is not offered, but a full one may be.

    Raises:
        CheckoutFailed: neither.
    """
    depth = ["--depth=1"] if shallow else []
    options = ["--quiet", "--no-tags", "--no-recurse-submodules", *depth, "--end-of-options"]
    output = await git.run("fetch", *options, source.url, refspec)
    if output.code == 0:
        return True
    if shallow and any(sign in output.stderr for sign in _NEEDS_ALL):
        return False
    raise CheckoutFailed(f"git fetch failed: {last_word(output.stderr)}")
