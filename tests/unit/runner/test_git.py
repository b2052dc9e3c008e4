"""git as a command that trusts nothing and ends in time."""

from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from services.runner.checkout import CheckoutFailed, Git, checkout
from services.runner.checkout.git import last_word
from services.runner.checkout.source import REMOTE
from tests.unit.runner.origin import Origin, source
from tests.unit.runner.processes import is_alive

pytestmark = pytest.mark.anyio


@pytest.mark.parametrize("url", ["ext::sh -c touch% /tmp/x", "file:///nowhere", "http://127.0.0.1:9/"])
async def test_git_itself_refuses_a_protocol_that_is_not_allowed(git: Git, tmp_path: Path, url: str) -> None:
    strict = replace(git, protocols=REMOTE)
    output = await strict.run("ls-remote", "--end-of-options", url)
    assert b"not allowed" in output.stderr


async def test_a_repository_around_the_directory_is_not_read(origin: Origin, git: Git) -> None:
    head = origin.commit()
    around = Origin.create(git.directory.parent, exist_ok=True)
    (around.path / ".git" / "config").write_text('[url "file:///nowhere"]\n insteadOf = file://\n')
    assert await checkout(git, source(origin.url)) == head


async def test_git_that_takes_too_long_is_killed_with_its_helpers(git: Git, tmp_path: Path) -> None:
    tools = tmp_path / "bin"
    tools.mkdir()
    (tools / "git").write_text("#!/bin/sh\nsleep 300 & echo $! > pid; wait\n")
    (tools / "git").chmod(0o755)
    slow = replace(git, path=f"{tools}:{git.path}", limit=timedelta(milliseconds=300))
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
