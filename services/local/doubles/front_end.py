"""Cloud Run's front end, played before one service: what IAM lets through, and what becomes of the headers.

At a private service one token is checked: the one in `X-Serverless-Authorization` if that header is there, else the one
in `Authorization`. It goes on without its signature; the other header goes on as it came. At a public service nothing
is checked and nothing removed. As a process of its own, on loopback, until it is interrupted:

    python -m services.local.doubles.front_end --port 8080 --upstream http://127.0.0.1:8081 \\
        --issuer https://anvil.local --jwks-url http://127.0.0.1:9023/jwks \\
        --audience anvil-coordinator --invoker runner@anvil.local
"""

import argparse
import asyncio
import secrets
from collections.abc import Sequence
from dataclasses import dataclass

import httpx2
import jwt
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from services.kernel.adapters.clock import SystemClock
from services.kernel.adapters.jwks import Jwks
from services.kernel.identity import Keys
from services.local.doubles.serving import serve
from services.local.doubles.upstream import SERVER, Headers, Upstream

GCLOUD_AUDIENCE = "32555940559.apps.googleusercontent.com"
"""What `gcloud auth print-identity-token` makes a person's token out to; Cloud Run takes it at every service."""

_REMOVED = "SIGNATURE_REMOVED_BY_GOOGLE"


@dataclass(frozen=True, slots=True, kw_only=True)
class Policy:
    """Who may invoke the service (None: `allUsers`), and for whom their tokens must be, besides gcloud."""

    audience: str
    invokers: frozenset[str] | None
    issuer: str
    keys: Keys


class NotLetThrough(Exception):
    def __init__(self, status: int) -> None:
        super().__init__(status)
        self.status = status


class FrontEnd:
    """An ASGI application before another one."""

    def __init__(self, service: ASGIApp, policy: Policy) -> None:
        self._service = service
        self._policy = policy

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            try:
                headers = [*await self._checked(scope["headers"])]
            except NotLetThrough as refused:
                response = PlainTextResponse("Not let through.", refused.status, headers={"Server": SERVER})
                await response(scope, receive, send)
                return
            scope = {**scope, "headers": _forwarded(headers, client=scope["client"])}
        await self._service(scope, receive, send)

    async def _checked(self, headers: Headers) -> Headers:
        if self._policy.invokers is None:
            return headers
        names = [name for name, _ in headers]
        consumed = b"x-serverless-authorization"
        place = names.index(consumed) if consumed in names else _index(names, b"authorization")
        name, value = headers[place]
        token = value.decode("latin-1").removeprefix("Bearer ")
        if await self._email(token) not in self._policy.invokers:
            raise NotLetThrough(403)
        stripped = f"Bearer {token.rpartition('.')[0]}.{_REMOVED}".encode("latin-1")
        return [*headers[:place], (name, stripped), *headers[place + 1 :]]

    async def _email(self, token: str) -> str:
        try:
            key = await self._policy.keys.key(str(jwt.get_unverified_header(token).get("kid")))
            claims = jwt.decode(
                token,
                key or "",
                algorithms=["RS256"],
                audience=[self._policy.audience, GCLOUD_AUDIENCE],
                issuer=self._policy.issuer,
                options={"require": ["exp", "iat", "aud", "iss", "email"]},
            )
        except (jwt.PyJWTError, TypeError) as error:
            raise NotLetThrough(401) from error
        return str(claims["email"])


def _index(names: list[bytes], name: bytes) -> int:
    if name not in names:
        raise NotLetThrough(401)
    return names.index(name)


def _forwarded(headers: Headers, *, client: tuple[str, int] | None) -> Headers:
    """What the front end says of the request; a client's own word on where it comes from stays before ours."""
    said = dict(headers)
    came_by = [each for each in (said.get(b"x-forwarded-for"), (client or ("127.0.0.1", 0))[0].encode()) if each]
    ours = {
        b"x-forwarded-for": b",".join(came_by),
        b"x-forwarded-proto": b"https",
        b"x-cloud-trace-context": said.get(b"x-cloud-trace-context") or f"{secrets.token_hex(16)}/1;o=1".encode(),
    }
    return [*((name, value) for name, value in headers if name not in ours), *ours.items()]


async def main(arguments: Sequence[str] | None = None) -> None:
    given = _parser().parse_args(arguments)
    invokers: list[str] = given.invoker
    policy = Policy(
        audience=given.audience,
        invokers=None if given.public else frozenset(invokers),
        issuer=given.issuer,
        keys=Jwks(given.jwks_url, clock=SystemClock()),
    )
    limits = httpx2.Limits(max_connections=None)
    async with httpx2.AsyncClient(trust_env=False, limits=limits) as http:
        await serve(FrontEnd(Upstream(*given.upstream, http=http), policy), port=given.port)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m services.local.doubles.front_end", description="Plays Cloud Run's front end."
    )
    parser.add_argument("--port", type=int, required=True)
    parser.add_argument("--upstream", action="append", required=True, help="the URL of an instance")
    parser.add_argument("--audience", required=True, help="of the service")
    parser.add_argument("--issuer", required=True)
    parser.add_argument("--jwks-url", required=True)
    parser.add_argument("--invoker", action="append", default=[], help="an e-mail that may invoke the service")
    parser.add_argument("--public", action="store_true", help="anybody may, and nothing is checked")
    return parser


if __name__ == "__main__":
    asyncio.run(main())
