"""What is read of a commit, and what of it is left alone."""

import pytest

from services.runner.checkout import Git, checkout, read_config, remarks
from services.runner.pipeline import ConfigInvalid
from tests.unit.runner.origin import Origin, source

pytestmark = pytest.mark.anyio


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
