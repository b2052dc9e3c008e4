"""The local stack's own tokens pass the very verification that Google's do."""

import base64
import hashlib
from datetime import timedelta
from pathlib import Path

import jwt
import pytest
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPublicKey

from services.kernel.adapters.local_minter import LocalMinter, create_key, jwks
from services.kernel.identity import Verifier
from tests.unit.kernel.world import NOON, MovableClock


@pytest.fixture(scope="module")
def key_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("state") / "key.pem"
    create_key(path)
    return path


def minter(key_file: Path) -> LocalMinter:
    return LocalMinter(key_file, email="hooks@anvil.local", issuer="https://anvil.local", clock=MovableClock())


class Published:
    """The keys of a JWKS document."""

    def __init__(self, document: dict[str, list[dict[str, str]]]) -> None:
        self._keys = jwt.PyJWKSet.from_dict(document)

    async def key(self, kid: str) -> RSAPublicKey | None:
        key = self._keys[kid].key
        return key if isinstance(key, RSAPublicKey) else None


@pytest.mark.anyio
async def test_a_minted_token_verifies_against_the_published_key(key_file: Path) -> None:
    minted = await minter(key_file).mint("anvil-coordinator")
    verifier = Verifier(
        Published(jwks(key_file)),
        audiences=frozenset({"anvil-coordinator"}),
        issuers=frozenset({"https://anvil.local"}),
        clock=MovableClock(),
    )
    assert (await verifier.verify(minted.value)).email == "hooks@anvil.local"
    assert minted.expires_at == NOON + timedelta(hours=1)
    assert minted.value not in repr(minted)


def test_the_published_key_is_public_and_named_by_its_thumbprint(key_file: Path) -> None:
    (key,) = jwks(key_file)["keys"]
    assert set(key) == {"kty", "e", "n", "kid", "use", "alg"}
    canonical = f'{{"e":"{key["e"]}","kty":"RSA","n":"{key["n"]}"}}'
    digest = hashlib.sha256(canonical.encode()).digest()
    assert key["kid"] == base64.urlsafe_b64encode(digest).decode().rstrip("=")


def test_a_key_is_for_its_owners_eyes_only_and_is_kept(tmp_path: Path) -> None:
    path = tmp_path / "key.pem"
    create_key(path)
    first = path.read_bytes()
    assert path.stat().st_mode & 0o777 == 0o600
    create_key(path)
    assert path.read_bytes() == first
