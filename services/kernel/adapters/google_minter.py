"""Identity tokens of the service account that a service runs as, from Google's metadata server.

The server is on the same machine and answers in milliseconds; it is asked in a thread, because google-auth blocks.
"""

import asyncio
from collections.abc import Mapping
from datetime import UTC, timedelta
from typing import Any, cast

import httpx2
from google.auth.compute_engine import IDTokenCredentials
from google.auth.exceptions import GoogleAuthError, RefreshError
from google.auth.transport import Request, Response

from services.kernel import deadline
from services.kernel.errors import Unavailable
from services.kernel.ports import Clock, IdentityToken

METADATA_URL = "http://metadata.google.internal"
ANSWER_WITHIN = timedelta(seconds=2)
RENEW_BEFORE = timedelta(minutes=5)
"""Sooner than whoever was given a token asks for the next one, who would otherwise be given the same."""


class GoogleMinter:
    """Keeps a token for each audience; concurrent callers share one question. Implements `ports.Minter`."""

    def __init__(self, *, clock: Clock, metadata_url: str = METADATA_URL) -> None:
        self._clock = clock
        self._metadata = _Metadata(metadata_url)
        self._tokens: dict[str, IdentityToken] = {}
        self._asking = asyncio.Lock()

    async def mint(self, audience: str) -> IdentityToken:
        if (token := self._kept(audience)) is not None:
            return token
        async with self._asking:
            if (token := self._kept(audience)) is None:
                token = self._tokens[audience] = await self._ask(audience)
            return token

    def _kept(self, audience: str) -> IdentityToken | None:
        token = self._tokens.get(audience)
        return token if token is not None and token.expires_at - RENEW_BEFORE > self._clock.now() else None

    async def _ask(self, audience: str) -> IdentityToken:
        within = deadline.left(self._clock, at_most=ANSWER_WITHIN)
        try:
            async with asyncio.timeout(within.total_seconds()):
                return await asyncio.to_thread(self._fetch, audience)
        except (GoogleAuthError, LookupError, TypeError, ValueError, TimeoutError) as error:
            # google-auth takes apart whatever it is given as a token.
            raise Unavailable(f"the metadata server gave no identity token for {audience}") from error

    def _fetch(self, audience: str) -> IdentityToken:
        # Given the request here too, it would ask for the account's name first, which nobody needs.
        credentials = cast("Any", IDTokenCredentials)(None, audience, use_metadata_identity_endpoint=True)
        credentials.refresh(self._metadata)
        # google-auth tells times in UTC without saying so.
        return IdentityToken(credentials.token, credentials.expiry.replace(tzinfo=UTC))


class _Metadata(Request):
    """google-auth's requests, sent to `base_url`, and once: by itself it asks five times, for 14 s in its thread."""

    def __init__(self, base_url: str) -> None:
        self._base_url = base_url.rstrip("/")

    def __call__(
        self,
        url: str,
        method: str = "GET",
        body: bytes | None = None,
        headers: Mapping[str, str] | None = None,
        timeout: float | None = None,
        **_: object,
    ) -> Response:
        asked = self._base_url + httpx2.URL(url).raw_path.decode()
        try:
            with httpx2.Client(trust_env=False, timeout=ANSWER_WITHIN.total_seconds()) as http:
                answer = http.request(method, asked, content=body, headers=headers).raise_for_status()
        except httpx2.HTTPError as error:
            # Not a TransportError, after which google-auth would ask again.
            raise cast("Any", RefreshError)(str(error)) from error
        return _Answer(answer)


class _Answer(Response):
    def __init__(self, answer: httpx2.Response) -> None:
        self._answer = answer

    @property
    def status(self) -> int:
        return self._answer.status_code

    @property
    def headers(self) -> Mapping[str, str]:
        return self._answer.headers

    @property
    def data(self) -> bytes:
        return self._answer.content
