"""The runner executes exactly the commit it was told, whatever the repository contains."""

import functools
import os
import subprocess
from collections.abc import Generator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import pytest

from services.kernel.ids import CommitSha
from services.kernel.wire.runs import Job
from services.runner.checkout import CheckoutFailed, Git, Source, checkout, read_config, remarks
from services.runner.checkout.git import last_word
from services.runner.checkout.source import LOCAL, REMOTE, is_branch
from services.runner.pipeline import ConfigInvalid
from tests.unit.runner.origin import Origin
from tests.unit.runner.processes import is_alive

pytestmark = pytest.mark.anyio

NEVER = CommitSha("1" * 40)


@pytest.fixture
def origin(tmp_path: Path) -> Origin:
    return Origin.create(tmp_path / "origin")


@pytest.fixture
def git(tmp_path: Path) -> Git:
    (tmp_path / "clone").mkdir()
    (tmp_path / "home").mkdir()
    return Git(
        directory=tmp_path / "clone",
        home=tmp_path / "home",
        protocols=LOCAL,
        path=os.environ["PATH"],
        limit=timedelta(seconds=30),
    )


def job(url: str, *, branch: str = "main", sha: str | None = None) -> Job:
    return Job(
        run_id="run_1",
        project="demo",
        project_id="prj_1",
        repository_url=url,
        config_path=".anvil.yml",
        branch=branch,
        commit_sha=sha,
        claimed_at=datetime(2026, 11, 30, tzinfo=UTC),
    )


def source(url: str, *, branch: str = "main", sha: str | None = None) -> Source:
    return Source.of(job(url, branch=branch, sha=sha), protocols=LOCAL)


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


@pytest.mark.threat("A24")
@pytest.mark.threat("A26")
@pytest.mark.threat("A27")
@pytest.mark.parametrize(
    "url",
    [
        "ext::sh -c touch% x",
        "ext::sh",
        "ssh://-oProxyCommand=x/y",
        "git@github.com:a/b.git",
        "file:///etc",
        "http://example.org/a",
        "/etc",
        "-x",
        "",
        "https://",
        "https://user:secret@example.org/a",
        "https://[::1",
        "https://example.org/a\n",
    ],
)
def test_only_https_without_credentials_is_a_source(url: str) -> None:
    with pytest.raises(CheckoutFailed) as refused:
        Source.of(job(url), protocols=REMOTE)
    assert "secret" not in str(refused.value)


@pytest.mark.parametrize("url", ["ext::sh -c touch% /tmp/x", "file:///nowhere", "http://127.0.0.1:9/"])
async def test_git_itself_refuses_a_protocol_that_is_not_allowed(git: Git, tmp_path: Path, url: str) -> None:
    strict = Git(directory=git.directory, home=git.home, protocols=REMOTE, path=git.path, limit=git.limit)
    output = await strict.run("ls-remote", "--end-of-options", url)
    assert b"not allowed" in output.stderr


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


async def test_a_repository_around_the_directory_is_not_read(origin: Origin, git: Git) -> None:
    head = origin.commit()
    around = Origin.create(git.directory.parent, exist_ok=True)
    (around.path / ".git" / "config").write_text('[url "file:///nowhere"]\n insteadOf = file://\n')
    assert await checkout(git, source(origin.url)) == head


@pytest.mark.threat("A31")
async def test_submodules_and_large_files_are_named_and_left_alone(origin: Origin, git: Git) -> None:
    head = origin.commit(
        {
            ".gitmodules": '[submodule "x"]\n path = x\n url = ext::sh -c touch% x\n',
            ".gitattributes": "*.bin filter=lfs diff=lfs\n",
        }
    )
    assert await checkout(git, source(origin.url)) == head
    assert await remarks(git, head) == [
        "this repository has submodules; they are not checked out",
        "this repository uses Git LFS; its files are left as pointers",
    ]


async def test_a_plain_repository_calls_for_no_remark(origin: Origin, git: Git) -> None:
    assert await remarks(git, await checkout(git, source(origin.url, sha=origin.commit({"file": "x"})))) == []


async def test_the_config_is_read_from_the_commit_and_not_from_the_work_tree(origin: Origin, git: Git) -> None:
    head = origin.commit({"ci/anvil.yml": "version: 1"})
    await checkout(git, source(origin.url))
    (git.directory / "ci" / "anvil.yml").write_text("version: 2")
    assert await read_config(git, head, "ci/anvil.yml") == b"version: 1"


@pytest.mark.threat("A32")
@pytest.mark.parametrize("path", [".anvil.yml", "linked/.anvil.yml"])
async def test_a_config_behind_a_symbolic_link_is_refused(origin: Origin, git: Git, path: str) -> None:
    (origin.path / ".anvil.yml").symlink_to("/proc/self/environ")
    (origin.path / "linked").symlink_to("real")
    head = origin.commit({"real/.anvil.yml": "version: 1"})
    await checkout(git, source(origin.url))
    with pytest.raises(ConfigInvalid):
        await read_config(git, head, path)


@pytest.mark.parametrize(
    ("path", "message"),
    [
        (".anvil.yml", "there is no '.anvil.yml' in this commit"),
        ("../origin/file", "there is no '../origin/file' in this commit"),
        (":(glob)*", "there is no ':(glob)*' in this commit"),
        ("--help", "there is no '--help' in this commit"),
        ("folder", "'folder' is not a regular file"),
        ("large", "'large' has 65537 bytes; at most 65536 are allowed"),
    ],
)
async def test_a_config_that_cannot_be_read_is_told_by_its_path(
    origin: Origin, git: Git, path: str, message: str
) -> None:
    head = origin.commit({"folder/file": "x", "large": "x" * 65537})
    await checkout(git, source(origin.url))
    with pytest.raises(ConfigInvalid) as refused:
        await read_config(git, head, path)
    assert str(refused.value) == message


async def test_git_that_takes_too_long_is_killed_with_its_helpers(git: Git, tmp_path: Path) -> None:
    tools = tmp_path / "bin"
    tools.mkdir()
    (tools / "git").write_text("#!/bin/sh\nsleep 300 & echo $! > pid; wait\n")
    (tools / "git").chmod(0o755)
    slow = Git(
        directory=git.directory,
        home=git.home,
        protocols=LOCAL,
        path=f"{tools}:{git.path}",
        limit=timedelta(milliseconds=300),
    )
    with pytest.raises(CheckoutFailed, match="git fetch took longer than 0 s"):
        await slow.run("fetch")
    assert not is_alive(int((git.directory / "pid").read_text()))


@pytest.mark.threat("A36")
@pytest.mark.parametrize(
    ("stderr", "message"),
    [
        (b"remote: hello\nfatal: repository not found\nPlease make sure", "repository not found"),
        (b"remote: \x1b]0;title\x07\x1b[2J\nfatal: \x1b[31mx\n", "[31mx"),
        (b"error: Server \x1b[31mred\xff", "Server [31mred\ufffd"),
        (b"fatal: " + b"x" * 900, "x" * 300),
        (b"", "no reason given"),
    ],
)
def test_what_git_says_is_cut_to_one_printable_line(stderr: bytes, message: str) -> None:
    assert last_word(stderr) == message


@pytest.mark.parametrize(
    ("name", "legal"),
    [
        ("main", True),
        ("a/b", True),
        ("-x", True),
        ("ünï", True),
        ("@", True),
        ("", False),
        ("/a", False),
        ("a/", False),
        ("a//b", False),
        ("a..b", False),
        ("a.lock", False),
        (".a", False),
        ("a/.b", False),
        ("a.", False),
        ("a b", False),
        ("a:b", False),
        ("a*", False),
        ("a\\b", False),
        ("a@{1}", False),
        ("a\nb", False),
    ],
)
def test_a_branch_name_is_legal_where_git_says_so(name: str, *, legal: bool) -> None:
    assert is_branch(name) is legal
    checked = subprocess.run(["git", "check-ref-format", f"refs/heads/{name}"], check=False)
    assert (checked.returncode == 0) is legal
