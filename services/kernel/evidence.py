"""What a request brings as evidence of who sent it.

Pure. *Signed*: a token whose signature this service can verify. *Platform*: a token that Cloud Run has verified and
whose signature it then removed, so that only its claims are left to look at. Cloud Run checks
`X-Serverless-Authorization` if it is there, `Authorization` otherwise, and passes the other one on as it came.
"""

import re
from dataclasses import dataclass, field
from typing import TypeAlias

from starlette.datastructures import Headers

from services.kernel.errors import Unauthenticated

AUTHORIZATION = "Authorization"
SERVERLESS_AUTHORIZATION = "X-Serverless-Authorization"
REMOVED = "SIGNATURE_REMOVED_BY_GOOGLE"
"""What stands in the place of a signature that Cloud Run has verified."""

_TOKEN = re.compile(r"[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+")
_LONGEST_TOKEN = 8192


@dataclass(frozen=True, slots=True)
class Signed:
    token: str = field(repr=False)


@dataclass(frozen=True, slots=True)
class Platform:
    token: str = field(repr=False)


Evidence: TypeAlias = Signed | Platform


def signed(headers: Headers) -> Signed:
    """The token of the one Authorization header; what else there is does not matter.

    Raises:
        Unauthenticated: there is no such token, or its signature is gone.
    """
    token = _token(headers, AUTHORIZATION)
    if _is_stripped(token):
        raise Unauthenticated("the identity token's signature was removed, so it proves nothing here")
    return Signed(token)


def signed_or_platform(headers: Headers) -> Evidence:
    """The same, or the token that Cloud Run has verified: only for a service that it lets nobody reach unverified.

    Whoever may call at all can write a token that looks verified into the header that Cloud Run does not check. So next
    to the other header only a signed `Authorization` counts, whichever of the two Cloud Run has checked.

    Raises:
        Unauthenticated: there is neither.
    """
    if SERVERLESS_AUTHORIZATION not in headers:
        token = _token(headers, AUTHORIZATION)
        return Platform(token) if _is_stripped(token) else Signed(token)
    if AUTHORIZATION in headers:
        return signed(headers)
    token = _token(headers, SERVERLESS_AUTHORIZATION)
    if not _is_stripped(token):
        raise Unauthenticated(f"the token in {SERVERLESS_AUTHORIZATION} was not verified on its way")
    return Platform(token)


def _token(headers: Headers, name: str) -> str:
    match headers.getlist(name):
        case [value]:
            scheme, _, token = value.partition(" ")
        case _:
            raise Unauthenticated(f"exactly one {name} header is needed")
    if scheme.lower() != "bearer" or len(token) > _LONGEST_TOKEN or not _TOKEN.fullmatch(token):
        raise Unauthenticated(f"the {name} header has no identity token")
    return token


def _is_stripped(token: str) -> bool:
    return token.rpartition(".")[2] == REMOVED
