"""An issuer of identity tokens: its key, what it signs, and the key as others know it."""

from datetime import timedelta

import jwt
from cryptography.hazmat.primitives.asymmetric import rsa
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPublicKey

from services.kernel.adapters.clock import SystemClock
from services.kernel.ports import IdentityToken

ISSUER = "https://anvil.local"


class Issuer:
    """Implements `identity.Keys`."""

    def __init__(self) -> None:
        self._key = rsa.generate_private_key(public_exponent=65537, key_size=2048)

    async def key(self, kid: str) -> RSAPublicKey | None:
        return self._key.public_key() if kid == "1" else None

    def token(self, email: str, audience: str) -> IdentityToken:
        now = SystemClock().now()
        claims = {
            "iss": ISSUER,
            "aud": audience,
            "sub": email,
            "email": email,
            "email_verified": True,
            "iat": now,
            "exp": now + timedelta(hours=1),
        }
        return IdentityToken(jwt.encode(claims, self._key, "RS256", {"kid": "1"}), now + timedelta(hours=1))

    def minter(self, email: str) -> "IssuerMinter":
        return IssuerMinter(self, email)


class IssuerMinter:
    """Mints as one service. Implements `ports.Minter`."""

    def __init__(self, issuer: Issuer, email: str) -> None:
        self._issuer = issuer
        self._email = email

    async def mint(self, audience: str) -> IdentityToken:
        return self._issuer.token(self._email, audience)
