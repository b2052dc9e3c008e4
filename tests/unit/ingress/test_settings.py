"""What the environment must say, and what it must not."""

from pathlib import Path

import pytest

from services.ingress.settings import IngressSettings, Part
from services.kernel.settings import SettingsError, load

WHOLE = {
    "ANVIL_ENVIRONMENT": "prod",
    "ANVIL_NAMESPACE": "acme",
    "ANVIL_AUDIENCE": "https://ci.example.com",
    "ANVIL_COORDINATOR_URL": "https://coordinator.example.com",
    "ANVIL_COORDINATOR_AUDIENCE": "https://coordinator.example.com",
    "ANVIL_WEBHOOK_KEYRING_FILE": "/secrets/webhook",
    "ANVIL_ROLES_FILE": "/secrets/roles",
    "ANVIL_PUBLIC_URL": "https://ci.example.com",
}


def settings(monkeypatch: pytest.MonkeyPatch, **changed: str | None) -> IngressSettings:
    for name, value in {**WHOLE, **{f"ANVIL_{name}": value for name, value in changed.items()}}.items():
        if value is None:
            monkeypatch.delenv(name, raising=False)
        else:
            monkeypatch.setenv(name, value)
    return load(IngressSettings)


def test_the_defaults_serve_all_parts_with_5_mib_for_a_body(monkeypatch: pytest.MonkeyPatch) -> None:
    found = settings(monkeypatch)
    assert found.parts == {Part.HOOKS, Part.CONSOLE}
    assert (found.body_limit_bytes, found.allow_local_repositories) == (5 * 1024 * 1024, False)
    assert found.roles_file == Path("/secrets/roles")


def test_hooks_alone_need_no_roles(monkeypatch: pytest.MonkeyPatch) -> None:
    assert settings(monkeypatch, PARTS='["hooks"]', ROLES_FILE=None).parts == {Part.HOOKS}


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("COORDINATOR_URL", None),
        ("WEBHOOK_KEYRING_FILE", None),
        ("ROLES_FILE", None),
        ("PARTS", "[]"),
        ("PARTS", '["badges"]'),
        ("BODY_LIMIT_BYTES", "26214401"),
        ("ALLOW_LOCAL_REPOSITORIES", "true"),
    ],
)
def test_a_value_that_cannot_be_stops_the_start_with_its_name(
    monkeypatch: pytest.MonkeyPatch, name: str, value: str | None
) -> None:
    with pytest.raises(SettingsError, match=f"ANVIL_{name}"):
        settings(monkeypatch, **{name: value})
