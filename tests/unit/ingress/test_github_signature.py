"""Which GitHub signatures count."""

import hashlib
import hmac

import pytest

from services.ingress.providers.github import GitHub
from services.ingress.providers.port import Key
from services.kernel.wire.webhooks import Refusal, WebhookConfig
from tests.unit.ingress.coordinator import NOW
from tests.unit.ingress.github_deliveries import SECRET, received, signature

BODY = b'{"zen": "Keep it logically awesome."}\n'
GOOD = signature(BODY).encode()
DIGEST = GOOD.removeprefix(b"sha256=")


def verifies(*values: bytes, body: bytes = BODY, secret: bytes = SECRET) -> bool:
    headers = [(b"x-hub-signature-256", value) for value in values]
    key = Key(secret=secret, config=WebhookConfig())
    return GitHub().refusal(received(body, headers=headers), key, now=NOW) is None


@pytest.mark.parametrize(
    ("secret", "body", "header"),
    [
        # GitHub's documentation, "Validating webhook deliveries".
        (
            b"It's a Secret to Everybody",
            b"Hello, World!",
            b"sha256=757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17",
        ),
        (b"secret", b"data", b"sha256=1b2c16b75bd2a870c114153ccda5bcfca63314bc722fa160d690de133ccbb9db"),
        (
            b"development",
            b'{"foo":"\\\\u001b"}',
            b"sha256=6f8326efbacfbd04e870cea25b5652e635be8c9807f2fd5348ef60753c9e96ed",
        ),
    ],
)
def test_published_signatures_verify(secret: bytes, body: bytes, header: bytes) -> None:
    assert verifies(header, body=body, secret=secret)


@pytest.mark.threat("A7")
@pytest.mark.parametrize(
    "body",
    [b'{"b" :1,\n\t"a":2}', b'{"a":"\\u00fc\\ud83d\\ude80"}', '{"a":"ü🚀"}'.encode(), b'{"a":1}\r\n', b"", b"not json"],
)
def test_the_bytes_are_verified_as_they_came(body: bytes) -> None:
    assert verifies(signature(body).encode(), body=body)


@pytest.mark.threat("A4")
@pytest.mark.parametrize(
    "header",
    [
        b"",
        b"sha256=",
        DIGEST,
        b"sha1=" + DIGEST,
        b"sha256=" + hmac.new(SECRET, BODY, hashlib.sha1).hexdigest().encode(),
        b"sha256=" + DIGEST.upper(),
        b"SHA256=" + DIGEST,
        b" " + GOOD,
        GOOD + b" ",
        GOOD + b"\n",
        GOOD[:-1],
        GOOD + b"0",
        b"sha256=" + b"0" * 64,
        b"sha256=" + "٣".encode() * 64,
    ],
)
def test_only_the_whole_digest_in_its_one_spelling_verifies(header: bytes) -> None:
    assert not verifies(header)


def test_the_old_sha1_header_proves_nothing() -> None:
    old = b"sha1=" + hmac.new(SECRET, BODY, hashlib.sha1).hexdigest().encode()
    sent = received(BODY, headers=[(b"x-hub-signature", old)])
    key = Key(secret=SECRET, config=WebhookConfig())
    assert GitHub().refusal(sent, key, now=NOW) is Refusal.MISSING_SIGNATURE


@pytest.mark.threat("A5")
@pytest.mark.parametrize("values", [(), (GOOD, GOOD), (GOOD, b"sha256="), (GOOD + b", " + GOOD,)])
def test_a_signature_comes_exactly_once(values: tuple[bytes, ...]) -> None:
    assert not verifies(*values)


@pytest.mark.threat("A6")
@pytest.mark.parametrize("byte", [b"\xe9", b"\xff", b"\x00"])
def test_bytes_beyond_ascii_are_a_wrong_signature_and_no_failure(byte: bytes) -> None:
    assert not verifies(byte + GOOD[1:])


@pytest.mark.threat("A2")
def test_an_empty_secret_verifies_nothing_not_even_its_own_signature() -> None:
    assert not verifies(signature(BODY, b"").encode(), secret=b"")


def test_another_secret_does_not_verify() -> None:
    assert verifies(GOOD)
    assert not verifies(GOOD, secret=SECRET + b"x")
