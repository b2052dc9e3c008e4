"""Who calls: OIDC identity tokens, verified by this service itself (A42).

RS256 only; issuer, exact audience, times, subject and a verified e-mail are all required. Being known is not enough:
each group of endpoints has its own list of callers. Where the platform verifies callers, a token whose signature it
removed is read instead, with all else as before, but only from the task queue, the scheduler and people, who cannot
send theirs twice.
"""

import base64
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Protocol

import jwt
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPublicKey
from pydantic import BaseModel, ConfigDict, ValidationError
from starlette.datastructures import Headers
from starlette.requests import Request

from services.kernel import evidence, strict_json
from services.kernel.endpoint import Audience, Endpoint
from services.kernel.errors import Forbidden, Invalid, Unauthenticated
from services.kernel.evidence import Platform, Signed
from services.kernel.ports import Clock
from services.kernel.web.serving import Caller
from services.kernel.wire.model import Wire

LEEWAY = timedelta(seconds=30)
TIMERS = frozenset({Audience.TASKS, Audience.SCHEDULER})
"""Whom Cloud Tasks and Cloud Scheduler call as; both send their token in `Authorization` alone."""


class Keys(Protocol):
    async def key(self, kid: str) -> RSAPublicKey | None:
        """The issuer's public key of that id, or None.

        Raises:
            Unavailable: the issuer did not answer.
        """
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Claims:
    """What a valid token says about its bearer."""

    email: str
    subject: str


class _Payload(BaseModel):
    """The claims that are looked at; times are seconds since 1970. The rest is ignored."""

    model_config = ConfigDict(frozen=True, extra="ignore", strict=True, allow_inf_nan=False, hide_input_in_errors=True)

    iss: str
    aud: str
    sub: str
    exp: int | float
    iat: int | float
    nbf: int | float = 0
    email: str
    email_verified: bool


class Verifier:
    """Verifies tokens of these issuers for these audiences. Safe for any number of concurrent calls."""

    def __init__(self, keys: Keys, *, audiences: frozenset[str], issuers: frozenset[str], clock: Clock) -> None:
        self._keys = keys
        self._audiences = audiences
        self._issuers = issuers
        self._clock = clock

    async def identify(self, headers: Headers, *, platform: bool = False) -> Claims:
        """Who sent these headers; `platform` takes tokens that Cloud Run has verified too.

        Raises:
            Unauthenticated: they bring no valid token.
            Unavailable: the issuer's keys cannot be had.
        """
        match evidence.signed_or_platform(headers) if platform else evidence.signed(headers):
            case Signed(token):
                return await self.verify(token)
            case Platform(token):
                return self._fit(_read(token))

    async def verify(self, token: str) -> Claims:
        """
        Raises:
            Unauthenticated: the token is not valid here and now.
            Unavailable: the issuer's keys cannot be had.
        """
        key = await self._keys.key(_kid(token))
        if key is None:
            raise Unauthenticated("the identity token is signed with an unknown key")
        return self._fit(_verified(token, key))

    def _fit(self, payload: _Payload) -> Claims:
        if refusal := self._refusal(payload, self._clock.now()):
            raise Unauthenticated(f"the identity token {refusal}")
        return Claims(email=payload.email, subject=payload.sub)

    def _refusal(self, payload: _Payload, now: datetime) -> str | None:
        if payload.iss not in self._issuers:
            return "comes from another issuer"
        if payload.aud not in self._audiences:
            return "is for another audience"
        if not payload.email_verified:
            return "names an e-mail address that nobody has verified"
        return _untimely(payload, now.timestamp())


class ServiceGuard:
    """Lets in the services that are listed for an endpoint's audience, and nobody for one without a list.

    Our own services have to bring a signed token also where the platform verifies callers.
    """

    def __init__(
        self,
        verifier: Verifier,
        allowed: Mapping[Audience, frozenset[str]],
        *,
        platform_verifies_callers: bool = False,
    ) -> None:
        self._verifier = verifier
        self._allowed = allowed
        self._by_platform = TIMERS if platform_verifies_callers else frozenset[Audience]()

    async def __call__(self, request: Request, endpoint: Endpoint[Wire, Wire]) -> Caller:
        claims = await self._verifier.identify(request.headers, platform=endpoint.audience in self._by_platform)
        if claims.email not in self._allowed.get(endpoint.audience, frozenset()):
            raise Forbidden(f"{claims.email} may not call this")
        return Caller(email=claims.email)


def _kid(token: str) -> str:
    """The key's id from the header, which is a stranger's text and parsed as such."""
    try:
        header = strict_json.parse(_decoded(token.partition(".")[0]))
    except (ValueError, Invalid) as error:
        raise Unauthenticated("the identity token is malformed") from error
    match header:
        case {"alg": "RS256", "kid": str(kid)}:
            return kid
        case _:
            raise Unauthenticated("the identity token is not signed with RS256 by a named key")


def _verified(token: str, key: RSAPublicKey) -> _Payload:
    try:
        # The claims are checked below, by the clock that everything else goes by.
        raw = jwt.api_jws.decode(token, key, algorithms=["RS256"])
        return _Payload.model_validate_json(raw)
    except (jwt.PyJWTError, ValidationError) as error:
        raise Unauthenticated("the identity token is not valid") from error


def _read(token: str) -> _Payload:
    """The claims of a token whose signature the platform has verified and removed."""
    _kid(token)
    try:
        return _Payload.model_validate_json(_decoded(token.split(".")[1]))
    except (ValueError, ValidationError) as error:
        raise Unauthenticated("the identity token is not valid") from error


def _decoded(part: str) -> bytes:
    return base64.urlsafe_b64decode(part + "=" * (-len(part) % 4))


def _untimely(payload: _Payload, now: float) -> str | None:
    leeway = LEEWAY.total_seconds()
    if payload.exp + leeway <= now:
        return "has expired"
    if max(payload.iat, payload.nbf) - leeway > now:
        return "is not valid yet"
    return None
