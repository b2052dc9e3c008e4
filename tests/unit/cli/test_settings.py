"""Which endpoint and project are meant: flag > environment > ./.anvil.toml > user config > the local stack."""

from pathlib import Path

import pytest

from services.cli.exits import Usage
from services.cli.settings import Places, Settings, Source, places, read


@pytest.fixture
def where(tmp_path: Path) -> Places:
    found = places({}, home=tmp_path, working=tmp_path)
    found.user_config.parent.mkdir(parents=True)
    found.state.mkdir(parents=True)
    return found


def settings(
    where: Places, *, endpoint: str | None = None, project: str | None = None, environment: dict[str, str] | None = None
) -> Settings:
    flags = Source(origin="--endpoint", endpoint=endpoint, project=project)
    return read(where, flags=flags, environment=environment or {})


def test_each_place_is_asked_only_if_nobody_before_it_knew(where: Places) -> None:
    found = settings(where)
    assert (found.endpoint, found.endpoint_from) == ("http://127.0.0.1:8080", "default")
    (where.state / "endpoint").write_text("http://127.0.0.1:8001\n")
    assert settings(where).endpoint == "http://127.0.0.1:8001"
    where.user_config.write_text('endpoint = "http://127.0.0.1:8002"\nproject = "user"\n')
    assert (settings(where).endpoint, settings(where).project) == ("http://127.0.0.1:8002", "user")
    (where.working / ".anvil.toml").write_text('endpoint = "http://127.0.0.1:8003"\nproject = "here"\n')
    assert (settings(where).endpoint, settings(where).project) == ("http://127.0.0.1:8003", "here")
    environment = {"ANVIL_ENDPOINT": "http://127.0.0.1:8004", "ANVIL_PROJECT": "variable"}
    found = settings(where, environment=environment)
    assert (found.endpoint, found.project) == ("http://127.0.0.1:8004", "variable")
    found = settings(where, environment=environment, endpoint="http://127.0.0.1:8005", project="flag")
    assert (found.endpoint, found.project) == ("http://127.0.0.1:8005", "flag")


def test_an_empty_variable_counts_as_unset(where: Places) -> None:
    assert settings(where, environment={"ANVIL_ENDPOINT": "", "ANVIL_PROJECT": ""}).project is None


def test_endpoint_and_project_may_come_from_different_places(where: Places) -> None:
    where.user_config.write_text('endpoint = "https://anvil.example.com/"\n')
    (where.working / ".anvil.toml").write_text('project = "here"\n')
    found = settings(where)
    assert (found.endpoint, found.project) == ("https://anvil.example.com", "here")


def test_a_checkout_names_another_machine_only_if_the_user_trusts_it(where: Places) -> None:
    (where.working / ".anvil.toml").write_text('endpoint = "https://anvil.example.com"\n')
    with pytest.raises(Usage, match="under `trusted`, not https"):
        settings(where)
    where.user_config.write_text('trusted = ["https://anvil.example.com/"]\n')
    assert settings(where).endpoint == "https://anvil.example.com"


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("endpoint = ", "expected a TOML file"),
        ("endpoint = 8080", "endpoint: Input should be a valid string"),
        ('projekt = "x"', "projekt: Extra inputs are not permitted; expected endpoint, project"),
        ('trusted = ["https://evil.example.com"]', "trusted: Extra inputs are not permitted"),
        ("\udcff", "expected a TOML file"),
    ],
)
def test_a_file_that_is_not_understood_is_named_with_its_mistake(where: Places, text: str, complaint: str) -> None:
    (where.working / ".anvil.toml").write_bytes(text.encode(errors="surrogateescape"))
    with pytest.raises(Usage) as caught:
        settings(where)
    assert caught.value.detail.startswith(f"{where.working}/.anvil.toml: ")
    assert complaint in caught.value.detail


def test_directories_follow_the_xdg_rules_where_they_are_absolute(tmp_path: Path) -> None:
    given = {"XDG_CONFIG_HOME": "/etc/xdg", "XDG_STATE_HOME": "relative"}
    found = places(given, home=tmp_path, working=tmp_path)
    assert found.user_config == Path("/etc/xdg/anvil/config.toml")
    assert found.state == tmp_path / ".local" / "state" / "anvil"


@pytest.mark.parametrize(
    ("endpoint", "local"),
    [
        ("http://127.0.0.1:8080", True),
        ("http://[::1]:8080", True),
        ("http://localhost", True),
        ("https://127.0.0.1.example.com", False),
        ("https://anvil.example.com", False),
    ],
)
def test_the_local_stack_is_on_loopback(where: Places, endpoint: str, local: bool) -> None:
    assert settings(where, endpoint=endpoint).local is local
