"""A service mints by the key it is given, and without one as the service account that it runs as."""

from pathlib import Path

import jwt
import pytest

from services.kernel.adapters.clock import SystemClock
from services.kernel.adapters.google_minter import GoogleMinter
from services.kernel.adapters.local_minter import create_key
from services.kernel.adapters.minting import minter
from services.kernel.ports import Minter
from services.kernel.settings import ServiceSettings, SettingsError


def of(key_file: Path | None, *, email: str | None) -> Minter:
    settings = ServiceSettings(environment="dev", namespace="test", audience="me", local_key_file=key_file)
    return minter(settings, email=email, email_setting="hooks_email", clock=SystemClock())


def test_without_a_key_google_is_asked() -> None:
    assert isinstance(of(None, email=None), GoogleMinter)


@pytest.mark.anyio
async def test_with_a_key_it_mints_as_whom_it_is_told(tmp_path: Path) -> None:
    create_key(tmp_path / "key.pem")
    token = await of(tmp_path / "key.pem", email="hooks@anvil.local").mint("you")
    claims = jwt.decode(token.value, options={"verify_signature": False})
    assert (claims["email"], claims["aud"]) == ("hooks@anvil.local", "you")


def test_with_a_key_and_nobody_to_mint_as_the_setting_that_is_missing_is_named(tmp_path: Path) -> None:
    create_key(tmp_path / "key.pem")
    with pytest.raises(SettingsError, match=r"^ANVIL_HOOKS_EMAIL: "):
        of(tmp_path / "key.pem", email=None)


def test_a_file_that_is_no_key_is_named(tmp_path: Path) -> None:
    (tmp_path / "key.pem").write_text("no key")
    with pytest.raises(SettingsError, match=r"^ANVIL_LOCAL_KEY_FILE: "):
        of(tmp_path / "key.pem", email="hooks@anvil.local")
