"""Identity tokens of the local stack, signed with a key pair in its state directory."""

import base64
import hashlib
import json
import os
from datetime import timedelta
from pathlib import Path

import jwt
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import rsa
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPrivateKey
from jwt.algorithms import RSAAlgorithm

from services.kernel.ports import Clock, IdentityToken

LIFETIME = timedelta(hours=1)
_BITS = 2048


class LocalMinter:
    """Mints as `email`. Implements `ports.Minter`."""

    def __init__(self, key_file: Path, *, email: str, issuer: str, clock: Clock) -> None:
        self._key = _read(key_file)
        self._kid = _kid(self._key)
        self._email = email
        self._issuer = issuer
        self._clock = clock

    async def mint(self, audience: str) -> IdentityToken:
        now = self._clock.now()
        claims = {
            "iss": self._issuer,
            "aud": audience,
            "sub": self._email,
            "email": self._email,
            "email_verified": True,
            "iat": now,
            "exp": now + LIFETIME,
        }
        value = jwt.encode(claims, self._key, algorithm="RS256", headers={"kid": self._kid})
        return IdentityToken(value, now + LIFETIME)


def create_key(path: Path) -> None:
    """Write a new private key, for its owner's eyes only; one that is there already stays."""
    key = rsa.generate_private_key(public_exponent=65537, key_size=_BITS)
    pem = key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    try:
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except FileExistsError:
        return
    with open(descriptor, "wb") as file:
        file.write(pem)


def jwks(key_file: Path) -> dict[str, list[dict[str, str]]]:
    """The public key as the JWKS document that an issuer serves."""
    key = _read(key_file)
    return {"keys": [{**_members(key), "kid": _kid(key), "use": "sig", "alg": "RS256"}]}


def _read(path: Path) -> RSAPrivateKey:
    key = serialization.load_pem_private_key(path.read_bytes(), password=None)
    if not isinstance(key, RSAPrivateKey):
        raise ValueError(f"{path} holds no RSA key")
    return key


def _members(key: RSAPrivateKey) -> dict[str, str]:
    """The members that make up an RSA public key (RFC 7518 §6.3.1)."""
    jwk = RSAAlgorithm.to_jwk(key.public_key(), as_dict=True)
    return {name: jwk[name] for name in ("e", "kty", "n")}


def _kid(key: RSAPrivateKey) -> str:
    """The key's thumbprint (RFC 7638)."""
    canonical = json.dumps(_members(key), sort_keys=True, separators=(",", ":"))
    return base64.urlsafe_b64encode(hashlib.sha256(canonical.encode()).digest()).rstrip(b"=").decode()
