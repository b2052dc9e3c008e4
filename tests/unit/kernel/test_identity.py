"""Identity tokens: everything about one must be right, and then its bearer must be on the list (A42)."""

import base64
import hashlib
import hmac
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import timedelta

import jwt
import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import rsa
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPrivateKey, RSAPublicKey
from starlette.datastructures import Headers
from starlette.requests import Request

from services.kernel.endpoint import Audience, Endpoint
from services.kernel.errors import Forbidden, Unauthenticated, Unavailable
from services.kernel.identity import Claims, ServiceGuard, Verifier
from services.kernel.wire.model import Empty
from tests.unit.kernel.world import NOON, MovableClock

pytestmark = pytest.mark.anyio

ISSUER, AUDIENCE, RUNNER = "https://anvil.local", "anvil-coordinator", "runner@anvil.local"
KEY = rsa.generate_private_key(public_exponent=65537, key_size=2048)
FOREIGN_KEY = rsa.generate_private_key(public_exponent=65537, key_size=2048)
PUBLIC_PEM = KEY.public_key().public_bytes(serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo)
CLAIMS: Mapping[str, object] = {
    "iss": ISSUER,
    "aud": AUDIENCE,
    "sub": "1234",
    "email": RUNNER,
    "email_verified": True,
    "iat": int(NOON.timestamp()),
    "exp": int(NOON.timestamp()) + 3600,
}


@dataclass(frozen=True, slots=True)
class OneKey:
    """The issuer's key set: `k1`."""

    async def key(self, kid: str) -> RSAPublicKey | None:
        return KEY.public_key() if kid == "k1" else None


class NoAnswer:
    async def key(self, kid: str) -> RSAPublicKey | None:
        raise Unavailable("the issuer is away")


def token(*, key: RSAPrivateKey = KEY, kid: str = "k1", without: str = "", **changed: object) -> str:
    claims = {name: value for name, value in {**CLAIMS, **changed}.items() if name != without}
    return jwt.encode(claims, key, algorithm="RS256", headers={"kid": kid})


def signed(header: object, claims: object = CLAIMS, sign: Callable[[bytes], bytes] = lambda text: b"") -> str:
    text = ".".join(_part(json.dumps(each).encode()) for each in (header, claims))
    return f"{text}.{_part(sign(text.encode()))}"


def _part(raw: bytes) -> str:
    return base64.urlsafe_b64encode(raw).rstrip(b"=").decode()


def _hmac_with_the_public_key(text: bytes) -> bytes:
    return hmac.digest(PUBLIC_PEM, text, hashlib.sha256)


def at(**offset: float) -> int:
    return int((NOON + timedelta(**offset)).timestamp())


async def verify(value: str) -> Claims:
    verifier = Verifier(OneKey(), audiences=frozenset({AUDIENCE}), issuers=frozenset({ISSUER}), clock=MovableClock())
    return await verifier.verify(value)


async def test_a_valid_token_says_who_bears_it() -> None:
    assert await verify(token()) == Claims(email=RUNNER, subject="1234")


async def test_clocks_may_differ_by_half_a_minute() -> None:
    await verify(token(exp=at(seconds=-29)))
    await verify(token(iat=at(seconds=29), nbf=at(seconds=29)))


FORGED = {
    "no signature": signed({"alg": "none", "kid": "k1"}),
    "no signature, by another name": signed({"alg": "NoNe", "kid": "k1"}),
    "no signature, said to be RS256": signed({"alg": "RS256", "kid": "k1"}),
    "the public key as an HMAC secret": signed({"alg": "HS256", "kid": "k1"}, sign=_hmac_with_the_public_key),
    "an HMAC said to be RS256": signed({"alg": "RS256", "kid": "k1"}, sign=_hmac_with_the_public_key),
    "a key of its own": token(key=FOREIGN_KEY),
    "a key of its own in the header": jwt.encode(
        dict(CLAIMS), FOREIGN_KEY, algorithm="RS256", headers={"kid": "k1", "jwk": {"kty": "RSA"}}
    ),
    "an unknown key": token(kid="k2"),
    "no key": signed({"alg": "RS256"}),
    "another algorithm": jwt.encode(dict(CLAIMS), KEY, algorithm="RS512", headers={"kid": "k1"}),
    "a critical extension": jwt.encode(
        dict(CLAIMS), KEY, algorithm="RS256", headers={"kid": "k1", "crit": ["exp"], "exp": 1}
    ),
    "the signature that Cloud Run removed": token().rpartition(".")[0] + ".SIGNATURE_REMOVED_BY_GOOGLE",
    "a header of lists": f"{_part(b'[' * 5000)}.e30.e30",
    "a header that is no object": f"{_part(b'7')}.e30.e30",
    "a header that is not base64": "?.e30.e30",
    "two parts": "e30.e30",
    "nothing": "",
    "words": "not a token",
}

UNFIT = {
    "another audience": token(aud="anvil-ingress"),
    "a list of audiences, ours among them": token(aud=[AUDIENCE, "anvil-ingress"]),
    "an audience that begins like ours": token(aud=AUDIENCE + "-2"),
    "another issuer": token(iss="https://evil.example"),
    "expired": token(exp=at(seconds=-31)),
    "issued in the future": token(iat=at(seconds=31)),
    "not valid yet": token(nbf=at(seconds=31)),
    "an endless lifetime": token(exp=1e400),
    "an expiry that is text": token(exp="tomorrow"),
    "an unverified e-mail": token(email_verified=False),
    "an e-mail verified in numbers": token(email_verified=1),
    "an e-mail verified in words": token(email_verified="true"),
    "an e-mail that is a list": token(email=[RUNNER]),
    **{f"without {name}": token(without=name) for name in CLAIMS},
}


@pytest.mark.threat("A42")
@pytest.mark.parametrize("value", [pytest.param(value, id=name) for name, value in {**FORGED, **UNFIT}.items()])
async def test_a_token_with_anything_wrong_about_it_is_refused(value: str) -> None:
    with pytest.raises(Unauthenticated):
        await verify(value)


REMOVED = "SIGNATURE_REMOVED_BY_GOOGLE"


def stripped(value: str) -> str:
    return f"{value.rpartition('.')[0]}.{REMOVED}"


async def identify(*headers: tuple[str, str], platform: bool = True) -> Claims:
    verifier = Verifier(OneKey(), audiences=frozenset({AUDIENCE}), issuers=frozenset({ISSUER}), clock=MovableClock())
    raw = [(name.lower().encode(), f"Bearer {value}".encode()) for name, value in headers]
    return await verifier.identify(Headers(raw=raw), platform=platform)


@pytest.mark.parametrize("header", ["Authorization", "X-Serverless-Authorization"])
async def test_a_token_that_the_platform_has_verified_says_who_bears_it(header: str) -> None:
    assert await identify((header, stripped(token()))) == Claims(email=RUNNER, subject="1234")


@pytest.mark.threat("A42")
@pytest.mark.parametrize("value", [pytest.param(value, id=name) for name, value in UNFIT.items()])
async def test_all_but_its_signature_must_be_right_about_a_token_that_the_platform_has_verified(value: str) -> None:
    with pytest.raises(Unauthenticated):
        await identify(("Authorization", stripped(value)))


UNSIGNED = signed({"alg": "none", "kid": "k1"})


@pytest.mark.threat("A42")
@pytest.mark.parametrize(
    "headers",
    [
        pytest.param([("Authorization", stripped(UNSIGNED))], id="it never was signed"),
        pytest.param([("Authorization", f"e30.{'e30' * 3}.{REMOVED}")], id="no header, no claims"),
        pytest.param([("Authorization", f"{token().partition('.')[0]}.A.{REMOVED}")], id="claims that are not base64"),
        pytest.param([("Authorization", token().rpartition(".")[0] + ".x" + REMOVED)], id="a signature that ends so"),
        pytest.param([("X-Serverless-Authorization", token())], id="not verified on its way"),
        pytest.param([("X-Serverless-Authorization", stripped(token()))] * 2, id="two of the checked header"),
        pytest.param(
            [("X-Serverless-Authorization", stripped(token())), ("Authorization", stripped(token()))],
            id="both signatures removed, of which Cloud Run removes one",
        ),
        pytest.param(
            [("X-Serverless-Authorization", stripped(token())), ("Authorization", token(exp=at(seconds=-31)))],
            id="an expired one next to the checked one",
        ),
        pytest.param(
            [("X-Serverless-Authorization", ""), ("Authorization", stripped(token()))], id="an empty checked header"
        ),
    ],
)
async def test_what_cloud_run_cannot_have_passed_on_is_no_evidence(headers: list[tuple[str, str]]) -> None:
    with pytest.raises(Unauthenticated):
        await identify(*headers)


async def test_a_signed_token_says_who_calls_whatever_token_let_it_through() -> None:
    let_through = stripped(token(email="front@anvil.local"))
    claims = await identify(("X-Serverless-Authorization", let_through), ("Authorization", token()))
    assert claims.email == RUNNER


async def test_where_the_platform_is_not_believed_the_header_that_it_checks_is_not_looked_at() -> None:
    claims = await identify(("X-Serverless-Authorization", "?"), ("Authorization", token()), platform=False)
    assert claims.email == RUNNER


async def test_without_the_issuers_keys_nobody_is_turned_away_for_good() -> None:
    verifier = Verifier(NoAnswer(), audiences=frozenset({AUDIENCE}), issuers=frozenset({ISSUER}), clock=MovableClock())
    with pytest.raises(Unavailable):
        await verifier.verify(token())


# The guard


def guard() -> ServiceGuard:
    verifier = Verifier(OneKey(), audiences=frozenset({AUDIENCE}), issuers=frozenset({ISSUER}), clock=MovableClock())
    return ServiceGuard(verifier, {Audience.RUNNER: frozenset({RUNNER}), Audience.CONSOLE: frozenset({"c@x.org"})})


def endpoint(audience: Audience) -> Endpoint[Empty, Empty]:
    return Endpoint(method="GET", path="/", summary="", request=Empty, response=Empty, audience=audience)


def request(*values: bytes) -> Request:
    return Request({"type": "http", "headers": [(b"authorization", value) for value in values]})


async def test_a_listed_caller_is_let_in() -> None:
    caller = await guard()(request(f"Bearer {token()}".encode()), endpoint(Audience.RUNNER))
    assert caller.email == RUNNER


@pytest.mark.parametrize("audience", [Audience.CONSOLE, Audience.HOOKS, Audience.TASKS, Audience.VIEWER])
async def test_a_known_caller_is_turned_away_where_it_is_not_listed(audience: Audience) -> None:
    with pytest.raises(Forbidden):
        await guard()(request(f"Bearer {token()}".encode()), endpoint(audience))


VALID = token().encode()


@pytest.mark.parametrize(
    "values",
    [
        pytest.param([], id="none"),
        pytest.param([b"Bearer " + VALID, b"Bearer " + VALID], id="two"),
        pytest.param([VALID], id="no scheme"),
        pytest.param([b"Basic " + VALID], id="another scheme"),
        pytest.param([b"Bearer"], id="no token"),
        pytest.param([b"Bearer  " + VALID], id="two spaces"),
        pytest.param([b"Bearer " + VALID + b", Bearer x.y.z"], id="two in one"),
        pytest.param([b"Bearer \xe9\xff" + VALID], id="not ASCII"),
        pytest.param([b"Bearer " + VALID + b"\x00"], id="NUL"),
        pytest.param([b"Bearer " + b"a" * 9000 + b"." + VALID], id="endless"),
    ],
)
async def test_anything_but_one_bearer_token_is_refused(values: list[bytes]) -> None:
    with pytest.raises(Unauthenticated):
        await guard()(request(*values), endpoint(Audience.RUNNER))


@pytest.mark.threat("A43")
async def test_the_headers_of_cloud_tasks_let_nobody_in() -> None:
    headers = [
        (b"x-cloudtasks-queuename", b"runs"),
        (b"x-cloudtasks-taskretrycount", b"1"),
        (b"user-agent", b"Google-Cloud-Tasks"),
    ]
    with pytest.raises(Unauthenticated):
        await guard()(Request({"type": "http", "headers": headers}), endpoint(Audience.TASKS))
