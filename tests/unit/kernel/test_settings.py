"""Settings come from the environment, once; what is wrong with them is said by the variable's name."""

from pathlib import Path
from typing import Annotated, Literal

import pytest

from services.kernel.settings import DevOnly, ServiceSettings, SettingsError, load, load_or_exit


class ShopSettings(ServiceSettings):
    store: Annotated[Literal["sqlite", "firestore"], DevOnly(("sqlite",))] = "firestore"
    callers: frozenset[str] = frozenset()
    allow_local: Annotated[bool, DevOnly()] = False


@pytest.fixture
def environ(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    for name, value in {"ENVIRONMENT": "prod", "NAMESPACE": "shop", "AUDIENCE": "shop"}.items():
        monkeypatch.setenv(f"ANVIL_{name}", value)
    return monkeypatch


def test_settings_are_read_from_the_environment(environ: pytest.MonkeyPatch) -> None:
    environ.setenv("ANVIL_CALLERS", '["a@example.com", "b@example.com"]')
    settings = load(ShopSettings)
    assert settings.audience == "shop"
    assert settings.callers == {"a@example.com", "b@example.com"}
    assert settings.issuer == "https://accounts.google.com"


def test_a_missing_variable_is_named(environ: pytest.MonkeyPatch) -> None:
    environ.delenv("ANVIL_AUDIENCE")
    with pytest.raises(SettingsError, match=r"^ANVIL_AUDIENCE: Field required$"):
        load(ShopSettings)


def test_a_malformed_variable_is_named_and_its_value_is_not(environ: pytest.MonkeyPatch) -> None:
    environ.setenv("ANVIL_STORE", "hunter2")
    with pytest.raises(SettingsError) as refused:
        load(ShopSettings)
    assert str(refused.value) == "ANVIL_STORE: Input should be 'sqlite' or 'firestore'"
    assert "hunter2" not in f"{refused.value.__cause__}"


def test_a_list_that_is_not_json_is_named(environ: pytest.MonkeyPatch) -> None:
    environ.setenv("ANVIL_CALLERS", "a@example.com")
    with pytest.raises(SettingsError, match="callers"):
        load(ShopSettings)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("ANVIL_STORE", "sqlite"),
        ("ANVIL_ALLOW_LOCAL", "true"),
        ("ANVIL_ISSUER", "https://anvil.local"),
        ("ANVIL_JWKS_URL", "http://127.0.0.1:1/jwks"),
        ("ANVIL_LOCAL_KEY_FILE", "key.pem"),
    ],
)
def test_what_is_for_dev_is_refused_elsewhere_by_name(environ: pytest.MonkeyPatch, name: str, value: str) -> None:
    environ.setenv(name, value)
    with pytest.raises(SettingsError, match=f"^{name}: only in the dev environment$"):
        load(ShopSettings)
    environ.setenv("ANVIL_ENVIRONMENT", "dev")
    load(ShopSettings)


def test_a_value_that_is_fit_for_production_is_taken(environ: pytest.MonkeyPatch) -> None:
    environ.setenv("ANVIL_STORE", "firestore")
    assert load(ShopSettings).store == "firestore"


def test_a_start_that_cannot_be_ends_with_one_line(
    environ: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    environ.delenv("ANVIL_NAMESPACE")
    with pytest.raises(SystemExit) as ended:
        load_or_exit(ShopSettings)
    assert ended.value.code == 4
    assert capsys.readouterr().err == "ShopSettings: ANVIL_NAMESPACE: Field required\n"


def test_settings_do_not_change(environ: pytest.MonkeyPatch) -> None:
    with pytest.raises(ValueError, match="frozen"):
        load(ShopSettings).local_key_file = Path("other.pem")
