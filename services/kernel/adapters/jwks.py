"""An issuer's public keys over HTTP (RFC 7517), kept for an hour.

A key id that is not known asks the issuer again, but at most every 30 seconds, so that made-up ids cost nothing.
Concurrent callers share one fetch.
"""

import asyncio
from collections.abc import Mapping
from datetime import timedelta

import httpx2
import jwt
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPublicKey

from services.kernel import deadline
from services.kernel.errors import Unavailable
from services.kernel.ports import Clock

LIFETIME = timedelta(hours=1)
COOLDOWN = timedelta(seconds=30)
FETCH_WITHIN = timedelta(seconds=2)


class Jwks:
    """The keys behind one URL. Implements `identity.Keys`."""

    def __init__(self, url: str, *, clock: Clock) -> None:
        self._url = url
        self._clock = clock
        self._keys: Mapping[str, RSAPublicKey] = {}
        self._fetched_at: timedelta | None = None
        self._tried_at: timedelta | None = None
        self._fetching = asyncio.Lock()

    async def key(self, kid: str) -> RSAPublicKey | None:
        asked_at = self._clock.elapsed()
        if not self._is_known(kid):
            async with self._fetching:
                if not self._is_known(kid):
                    await self._refresh(asked_at)
        return self._keys.get(kid)

    def _is_known(self, kid: str) -> bool:
        """Whether asking the issuer would be of no use: it is cached, or was asked a moment ago."""
        age = None if self._fetched_at is None else self._clock.elapsed() - self._fetched_at
        return age is not None and (age < COOLDOWN or (age < LIFETIME and kid in self._keys))

    async def _refresh(self, asked_at: timedelta) -> None:
        if self._tried_at is not None and self._tried_at > asked_at:
            raise Unavailable("the issuer's keys could not be fetched")
        self._tried_at = self._clock.elapsed()
        self._keys = await self._fetch()
        self._fetched_at = self._clock.elapsed()

    async def _fetch(self) -> Mapping[str, RSAPublicKey]:
        within = deadline.left(self._clock, at_most=FETCH_WITHIN)
        try:
            async with asyncio.timeout(within.total_seconds()), httpx2.AsyncClient() as http:
                answer = await http.get(self._url)
                answer.raise_for_status()
                found = jwt.PyJWKSet.from_dict(answer.json())
        except (httpx2.HTTPError, jwt.PyJWTError, ValueError, TimeoutError) as error:
            raise Unavailable("the issuer's keys could not be fetched") from error
        return {each.key_id: each.key for each in found.keys if each.key_id and isinstance(each.key, RSAPublicKey)}
