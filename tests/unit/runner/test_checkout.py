"""The runner executes exactly the commit it was told, whatever the repository contains."""

import functools
import subprocess
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import replace
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import pytest

from services.kernel.ids import CommitSha
from services.runner.checkout import CheckoutFailed, Git, Source, checkout
from tests.unit.runner.origin import Origin, source

pytestmark = pytest.mark.anyio

NEVER = CommitSha("1" * 40)


@pytest.mark.req("R10")
@pytest.mark.req("R12")
async def test_a_run_gets_its_own_commit_though_the_branch_has_moved(origin: Origin, git: Git) -> None:
    pinned = origin.commit({"file": "pinned"})
    origin.commit({"file": "moved"})
    assert await checkout(git, source(origin.url, sha=pinned)) == pinned
    assert (git.directory / "file").read_text() == "pinned"


async def test_a_commit_that_was_force_pushed_away_is_still_fetched_while_the_server_has_it(
    origin: Origin, git: Git
) -> None:
    gone = origin.commit({"file": "first"})
    origin.commit({"file": "amended"}, amend=True)
    assert await checkout(git, source(origin.url, sha=gone)) == gone


async def test_a_commit_that_the_server_lost_fails_in_one_sentence(origin: Origin, git: Git) -> None:
    origin.commit()
    with pytest.raises(CheckoutFailed, match=f"^commit {NEVER} is not in the repository any more$"):
        await checkout(git, source(origin.url, sha=NEVER))


@pytest.mark.req("R13")
async def test_a_manual_run_gets_the_head_of_its_branch(origin: Origin, git: Git) -> None:
    origin.commit({"file": "old"})
    origin.git("checkout", "--quiet", "-b", "topic")
    head = origin.commit({"file": "new"})
    origin.git("checkout", "--quiet", "main")
    assert await checkout(git, source(origin.url, branch="topic")) == head


async def test_a_branch_that_does_not_exist_fails_in_one_sentence(origin: Origin, git: Git) -> None:
    origin.commit()
    origin.git("branch", "refs/heads/topic")
    with pytest.raises(CheckoutFailed, match=r"^there is no branch 'topic' in the repository$"):
        await checkout(git, source(origin.url, branch="topic"))


@pytest.mark.threat("A30")
@pytest.mark.parametrize("pinned", [True, False])
async def test_a_branch_named_like_the_commit_changes_nothing(origin: Origin, git: Git, *, pinned: bool) -> None:
    right = origin.commit({"file": "right"})
    wrong = origin.commit({"file": "wrong"})
    origin.git("update-ref", f"refs/heads/{right}", wrong)
    asked = source(origin.url, sha=right) if pinned else source(origin.url, branch=right)
    assert await checkout(git, asked) == (right if pinned else wrong)


@pytest.mark.threat("A39")
@pytest.mark.parametrize(
    "branch", ["$(touch${IFS}x)", "a;b", "-x", "--upload-pack=touch", "HEAD", "ünï/cödé", "a'b\"c"]
)
async def test_a_branch_of_any_legal_name_is_only_a_name(origin: Origin, git: Git, branch: str) -> None:
    head = origin.commit()
    origin.git("update-ref", f"refs/heads/{branch}", head)
    assert await checkout(git, source(origin.url, branch=branch)) == head


async def test_a_repository_of_sha_256_names_is_checked_out(tmp_path: Path, git: Git) -> None:
    origin = Origin.create(tmp_path / "wide", object_format="sha256")
    head = origin.commit({"file": "wide"})
    assert len(head) == 64
    assert await checkout(git, source(origin.url, sha=head)) == head


async def test_a_manual_run_of_a_sha_256_repository_finds_its_format(tmp_path: Path, git: Git) -> None:
    origin = Origin.create(tmp_path / "wide", object_format="sha256")
    head = origin.commit()
    assert await checkout(git, source(origin.url)) == head


class Quiet(SimpleHTTPRequestHandler):
    def log_message(self, format: str, *args: object) -> None:
        pass


@contextmanager
def plain_files(path: Path) -> Generator[str]:
    """The URL of a web server that only hands out files, which can neither fetch by commit nor shallowly."""
    subprocess.run(["git", "update-server-info"], cwd=path, check=True)
    server = ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Quiet, directory=str(path / ".git")))
    serving = Thread(target=server.serve_forever)
    serving.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}/"
    finally:
        server.shutdown()
        serving.join()
        server.server_close()


@pytest.mark.parametrize("pinned", [True, False])
async def test_a_server_that_offers_no_shallow_fetch_is_fetched_in_full(
    origin: Origin, git: Git, *, pinned: bool
) -> None:
    first = origin.commit({"file": "first"})
    second = origin.commit({"file": "second"})
    with plain_files(origin.path) as url:
        head = await checkout(git, source(url, sha=first if pinned else None))
    assert head == (first if pinned else second)


async def test_a_full_fetch_is_not_led_astray_by_a_branch_named_like_the_commit(origin: Origin, git: Git) -> None:
    right = origin.commit({"file": "right"})
    origin.git("update-ref", f"refs/heads/{right}", origin.commit({"file": "wrong"}))
    with plain_files(origin.path) as url:
        assert await checkout(git, source(url, sha=right)) == right


@pytest.mark.threat("A25")
@pytest.mark.parametrize("option", ["--upload-pack=touch {}", "--upload-pa=touch {}"])
async def test_a_ref_that_looks_like_an_option_runs_nothing(
    origin: Origin, git: Git, tmp_path: Path, option: str
) -> None:
    origin.commit()
    await git.must("init", "--quiet", "--template=")
    hit = tmp_path / "hit"
    asked = Source(url=origin.url, branch="main", commit_sha=CommitSha(option.format(hit)))
    with pytest.raises(CheckoutFailed):
        await checkout(git, asked)
    assert not hit.exists()


@pytest.mark.inv("S5")
async def test_what_git_checked_out_is_compared_with_what_was_asked_for(git: Git, tmp_path: Path) -> None:
    tools = tmp_path / "bin"
    tools.mkdir()
    (tools / "git").write_text(f'#!/bin/sh\ncase "$*" in *rev-parse*) echo {"2" * 40};; esac\n')
    (tools / "git").chmod(0o755)
    with pytest.raises(CheckoutFailed, match=f"asked for commit {NEVER}, but git checked out {'2' * 40}"):
        await checkout(replace(git, path=f"{tools}:{git.path}"), source("file:///nowhere", sha=NEVER))
