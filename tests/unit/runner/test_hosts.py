"""The checkout from a Git host over HTTP: honest, old-fashioned, gone wrong, or hostile."""

import os
import socket
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from services.runner.checkout import CheckoutFailed, Git, checkout
from tests.unit.runner import git_server
from tests.unit.runner.desk import Desk, job
from tests.unit.runner.origin import Origin, source
from tests.unit.runner.stage import Stage, steps

pytestmark = pytest.mark.anyio


@pytest.mark.parametrize("protocol", [0, 2])
@pytest.mark.parametrize("wanted", ["an old commit", "the head", "a branch"])
async def test_a_smart_host_of_either_protocol_gives_exactly_what_was_asked(
    origin: Origin, git: Git, protocol: int, wanted: str
) -> None:
    old = origin.commit({"file": "old"})
    head = origin.commit({"file": "head"})
    with git_server.listening(git_server.smart(origin.path, protocol=protocol)) as (url, _):
        pinned = {"an old commit": old, "the head": head, "a branch": None}[wanted]
        got = await checkout(git, source(f"{url}/.git", sha=pinned))
    assert got == (old if wanted == "an old commit" else head)
    assert (git.directory / "file").read_text() == ("old" if wanted == "an old commit" else "head")


@pytest.mark.parametrize(("protocol", "fetched"), [(2, True), (0, False)])
async def test_a_commit_that_was_force_pushed_away_runs_while_its_host_gives_it_and_else_nothing_does(
    origin: Origin, git: Git, protocol: int, *, fetched: bool
) -> None:
    origin.commit({"file": "base"})
    gone = origin.commit({"file": "gone"})
    origin.commit({"file": "instead"}, amend=True)
    asked = source
    with git_server.listening(git_server.smart(origin.path, protocol=protocol)) as (url, _):
        if fetched:
            assert await checkout(git, asked(f"{url}/.git", sha=gone)) == gone
        else:
            with pytest.raises(CheckoutFailed, match=f"^commit {gone} is not in the repository any more$"):
                await checkout(git, asked(f"{url}/.git", sha=gone))
            assert not (git.directory / "file").exists()


@pytest.mark.parametrize("protocol", [0, 2])
async def test_a_host_of_sha_256_names_is_understood(tmp_path: Path, git: Git, protocol: int) -> None:
    origin = Origin.create(tmp_path / "wide", object_format="sha256")
    head = origin.commit({"file": "wide"})
    with git_server.listening(git_server.smart(origin.path, protocol=protocol)) as (url, _):
        assert await checkout(git, source(f"{url}/.git", sha=head)) == head


@pytest.mark.parametrize("branch", ["refs/heads/main", "a%25b", "topic#1", "me@work", "a+b", "Main", "ünï/cödé"])
async def test_a_branch_of_any_name_is_fetched_over_http_by_just_that_name(
    origin: Origin, git: Git, branch: str
) -> None:
    origin.commit({"file": "main"})
    origin.git("checkout", "--quiet", "--detach")
    head = origin.commit({"file": "branch"})
    origin.git("update-ref", f"refs/heads/{branch}", head)
    with git_server.listening(git_server.smart(origin.path)) as (url, _):
        assert await checkout(git, source(f"{url}/.git", branch=branch)) == head


@pytest.mark.threat("A28")
async def test_a_redirect_is_not_followed(origin: Origin, git: Git) -> None:
    head = origin.commit()
    with (
        git_server.listening(git_server.smart(origin.path)) as (there, asked_there),
        git_server.listening(git_server.redirecting(there)) as (url, asked),
        pytest.raises(CheckoutFailed, match="error: 302"),
    ):
        await checkout(git, source(f"{url}/.git", sha=head))
    assert asked
    assert asked_there == []


async def test_a_host_that_says_nothing_is_given_up(git: Git) -> None:
    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))
        silent.listen()
        url = f"http://127.0.0.1:{silent.getsockname()[1]}/x.git"
        with pytest.raises(CheckoutFailed, match=r"^git ls-remote took longer than 1 s$"):
            await checkout(replace(git, limit=timedelta(seconds=1)), source(url))


@pytest.mark.threat("A36")
async def test_what_a_host_shouts_moves_nobodys_cursor(stage: Stage, git: Git) -> None:
    shout = b"\x1b]0;owned\x07\x1b[2Jhello\rbye"
    with git_server.listening(git_server.shouting(shout)) as (url, _):
        await git.must("init", "--quiet")
        assert shout[:10] in (await git.run("fetch", "--depth=1", url, "1" * 40)).stderr
        desk = Desk(job(f"{url}/x.git", sha="1" * 40))
        await stage.run(desk)
    assert (desk.report_taken.detail or "").isprintable()
    assert all(sign.isprintable() or sign == "\n" for sign in desk.log)


@pytest.mark.threat("A33")
async def test_no_git_of_the_runner_s_runs_where_commands_have_been(stage: Stage, tmp_path: Path) -> None:
    hit = tmp_path / "hit"
    trap = f"printf '#!/bin/sh\\ntouch {hit}\\n' > hook; chmod +x hook; mkdir -p .git/hooks"
    plant = "for h in post-checkout reference-transaction post-index-change; do cp hook .git/hooks/$h; done"
    configure = "git config core.fsmonitor $PWD/hook; git config filter.x.clean $PWD/hook; rm -f hit"
    desk = Desk(stage.job(steps(f"{trap}; {plant}; {configure}; rm -f {hit}", "true")))
    await stage.run(desk)
    assert [step.status for step in desk.report_taken.steps] == ["passed", "passed"]
    assert not hit.exists()


@pytest.mark.threat("A34")
async def test_a_large_file_stays_a_pointer_and_its_server_is_not_asked(origin: Origin, git: Git) -> None:
    pointer = f"version https://git-lfs.github.com/spec/v1\noid sha256:{'0' * 64}\nsize 1\n"
    with git_server.listening(git_server.redirecting("http://127.0.0.1:9")) as (url, asked):
        files = {
            ".gitattributes": "*.bin filter=lfs diff=lfs\n",
            ".lfsconfig": f"[lfs]\n url = {url}\n",
            "a.bin": pointer,
        }
        await checkout(git, source(origin.url, sha=origin.commit(files)))
    assert (git.directory / "a.bin").read_text() == pointer
    assert asked == []


@pytest.mark.threat("A35")
async def test_a_checkout_is_the_runner_s_own_and_begins_with_nothing(stage: Stage, tmp_path: Path) -> None:
    wanted = stage.job(steps("stat -c '%u %a' . .git; git rev-parse HEAD; test ! -e left"))
    left = stage.work / wanted.run_id / "repository"
    (left / ".git").mkdir(parents=True)
    (left / ".git" / "config").write_text(f"[core]\n fsmonitor = touch {tmp_path / 'hit'}\n")
    (left / "left").touch()
    desk = Desk(wanted)
    await stage.run(desk)
    assert desk.report_taken.exit_code == 0
    assert not (tmp_path / "hit").exists()
    assert f"{os.getuid()} 700\n{os.getuid()} " in desk.log
