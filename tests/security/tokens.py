"""An issuer, and what a caller may put into a header: tokens of every kind, forged ones too."""

import base64
import json
from datetime import timedelta

import jwt
from cryptography.hazmat.primitives.asymmetric import rsa
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPublicKey

from services.kernel.adapters.clock import SystemClock
from services.kernel.ports import IdentityToken

ISSUER = "https://issuer.test"


class Issuer:
    """Implements `identity.Keys`."""

    def __init__(self) -> None:
        self._key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
        self._now = SystemClock().now()

    async def key(self, kid: str) -> RSAPublicKey | None:
        return self._key.public_key() if kid == "1" else None

    def token(self, email: str, audience: str, *, lasts: timedelta = timedelta(hours=1)) -> str:
        header = {"kid": "1"}
        return jwt.encode(self._claims(email, audience, lasts), self._key, algorithm="RS256", headers=header)

    def expired(self, email: str, audience: str) -> str:
        return self.token(email, audience, lasts=timedelta(hours=-1))

    def unsigned(self, email: str, audience: str) -> str:
        """What is signed with the algorithm `none`; its third part is there, so that it looks like a token."""
        return f"{self._parts({'alg': 'none', 'kid': '1'}, email, audience)}.e30"

    def forged(self, email: str, audience: str) -> str:
        """What Cloud Run would pass on if this caller had been verified; nobody's key was needed to write it."""
        header = {"alg": "RS256", "kid": "1", "typ": "JWT"}
        return f"{self._parts(header, email, audience)}.SIGNATURE_REMOVED_BY_GOOGLE"

    def minter(self, email: str) -> "IssuerMinter":
        return IssuerMinter(self, email)

    def _parts(self, header: dict[str, str], email: str, audience: str) -> str:
        claims = self._claims(email, audience, timedelta(hours=1))
        encoded = [base64.urlsafe_b64encode(json.dumps(part).encode()) for part in (header, claims)]
        return ".".join(part.rstrip(b"=").decode() for part in encoded)

    def _claims(self, email: str, audience: str, lasts: timedelta) -> dict[str, object]:
        return {
            "iss": ISSUER,
            "aud": audience,
            "sub": email,
            "email": email,
            "email_verified": True,
            "iat": int(self._now.timestamp()) - 7200,
            "exp": int((self._now + lasts).timestamp()),
        }


class IssuerMinter:
    """Mints as one service. Implements `ports.Minter`."""

    def __init__(self, issuer: Issuer, email: str) -> None:
        self._issuer = issuer
        self._email = email

    async def mint(self, audience: str) -> IdentityToken:
        return IdentityToken(self._issuer.token(self._email, audience), SystemClock().now() + timedelta(hours=1))
