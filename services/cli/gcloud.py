"""A person's identity token from Google's own command."""

import subprocess
from collections.abc import Mapping
from datetime import datetime, timedelta

import anyio
import jwt

from services.kernel.errors import Unauthenticated
from services.kernel.ports import Clock, IdentityToken

COMMAND = ("gcloud", "auth", "print-identity-token")
_SPARE = timedelta(minutes=1)


class GcloudMinter:
    """Asks `gcloud` once, and again when the token is about to expire.

    The audience is gcloud's own client id whatever is asked for, and ingress takes that one from people. `otherwise`
    tells a person what to do where there is no gcloud.
    """

    def __init__(self, *, environment: Mapping[str, str], clock: Clock, otherwise: str) -> None:
        self._environment = environment
        self._clock = clock
        self._otherwise = otherwise
        self._token: IdentityToken | None = None

    async def mint(self, audience: str) -> IdentityToken:
        """Raises:
        Unauthenticated: there is no `gcloud`, or it has nobody logged in.
        """
        if self._token is None or self._token.expires_at <= self._clock.now() + _SPARE:
            self._token = token_of(await self._ask(), now=self._clock.now())
        return self._token

    async def _ask(self) -> str:
        try:
            found = await anyio.run_process(COMMAND, env=self._environment, check=True, stdin=subprocess.DEVNULL)
        except FileNotFoundError as error:
            raise Unauthenticated(f"{self._otherwise}; gcloud is not installed") from error
        except subprocess.CalledProcessError as error:
            said = bytes(error.stderr or b"").decode(errors="replace").strip().splitlines() or [""]
            raise Unauthenticated(f"{self._otherwise}; `{' '.join(COMMAND)}` failed: {said[0]}") from error
        return found.stdout.decode().strip()


def token_of(value: str, *, now: datetime) -> IdentityToken:
    """A token with the end of its life; an hour from now if it does not say."""
    try:
        claims: Mapping[str, object] = jwt.decode(value, options={"verify_signature": False})
    except jwt.InvalidTokenError:
        claims = {}
    match claims.get("exp"):
        case int(seconds):
            return IdentityToken(value, datetime.fromtimestamp(seconds, tz=now.tzinfo))
        case _:
            return IdentityToken(value, now + timedelta(hours=1))
