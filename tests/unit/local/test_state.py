"""The state directory is private, complete, one stack's at a time, and survives."""

import json
import stat
from pathlib import Path

import pytest

from services.local import state
from services.local.state import StateInUse


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_only_its_owner_can_read_it(tmp_path: Path) -> None:
    tmp_path.chmod(0o755)
    with state.held(tmp_path) as directory:
        assert mode(directory.root) == 0o700
        for file in (directory.issuer_key, directory.webhook_keyring, directory.roles, directory.operations):
            assert mode(file) == 0o600
        assert mode(directory.credentials) == 0o700


def test_keys_made_once_are_kept(tmp_path: Path) -> None:
    with state.held(tmp_path / "new") as directory:
        before = (directory.issuer_key.read_bytes(), directory.webhook_keyring.read_bytes())
    with state.held(tmp_path / "new") as directory:
        assert (directory.issuer_key.read_bytes(), directory.webhook_keyring.read_bytes()) == before


def test_two_directories_share_no_key(tmp_path: Path) -> None:
    with state.held(tmp_path / "one") as one, state.held(tmp_path / "two") as two:
        assert one.issuer_key.read_bytes() != two.issuer_key.read_bytes()
        assert one.webhook_keyring.read_bytes() != two.webhook_keyring.read_bytes()


def test_what_a_person_changed_stays(tmp_path: Path) -> None:
    changed = json.dumps([{"principal": "ada@example.com", "role": "viewer", "projects": ["*"]}])
    with state.held(tmp_path) as directory:
        directory.roles.write_text(changed)
        directory.operations.write_text("version: 1\noperations: []  # mine\n")
    with state.held(tmp_path) as directory:
        assert directory.roles.read_text() == changed
        assert "mine" in directory.operations.read_text()


def test_a_directory_in_use_is_refused_by_name(tmp_path: Path) -> None:
    with (
        state.held(tmp_path),
        pytest.raises(StateInUse, match=str(tmp_path)),
        state.held(tmp_path),
    ):
        raise AssertionError("two stacks on one directory")


def test_a_long_log_is_begun_anew_and_the_old_one_kept(tmp_path: Path) -> None:
    short, long = tmp_path / "runner.log", tmp_path / "ingress.log"
    short.write_text("a line")
    with long.open("wb") as file:
        file.truncate(16 * 1024 * 1024 + 1)
    for log in (short, long, tmp_path / "never-written.log"):
        state.shorten(log)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["ingress.log.old", "runner.log"]


@pytest.mark.parametrize(
    ("environment", "root"),
    [
        ({"XDG_STATE_HOME": "/var/state"}, Path("/var/state/anvil")),
        ({"XDG_STATE_HOME": "not/absolute"}, Path.home() / ".local/state/anvil"),
        ({}, Path.home() / ".local/state/anvil"),
    ],
)
def test_it_lies_where_the_system_keeps_state(environment: dict[str, str], root: Path) -> None:
    assert state.default_root(environment) == root
