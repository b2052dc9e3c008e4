"""How secrets are made, sealed and opened."""

import json
import re

import pytest

from services.ingress import custody
from services.ingress.custody import Custody
from services.ingress.providers.gitea import Gitea
from services.ingress.providers.github import GitHub
from services.ingress.providers.gitlab import GitLab
from services.ingress.providers.port import GitHost
from services.kernel.adapters.clock import SystemIds
from services.kernel.errors import Invalid, WeakSecret
from services.kernel.seal import Keyring
from services.kernel.wire.deliveries import Provider
from services.kernel.wire.webhooks import SealedSecret, Verification, WebhookConfig

OLD = json.dumps({"current": "1", "keys": {"1": "MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY="}}).encode()
NEW = json.dumps(
    {
        "current": "2",
        "keys": {
            "1": "MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY=",
            "2": "ZmVkY2JhOTg3NjU0MzIxMGZlZGNiYTk4NzY1NDMyMTA=",
        },
    }
).encode()
SECRET = "korrekt Pferd Batterie ü"


def kept(ring: bytes) -> Custody:
    return Custody(Keyring.load(ring), SystemIds())


def verification(sealed: SealedSecret | None, *, project_id: str | None = "prj_a") -> Verification:
    return Verification(project_id=project_id, version="v", enabled=True, config=WebhookConfig(), secret=sealed)


def sealed_by(ring: bytes) -> SealedSecret:
    return kept(ring).seal(SECRET, project_id="prj_a", provider=Provider.GITHUB)


def test_a_secret_opens_in_its_own_place() -> None:
    found = kept(OLD).secret(verification(sealed_by(OLD)), Provider.GITHUB)
    assert found == b"korrekt Pferd Batterie \xc3\xbc"


@pytest.mark.parametrize(
    ("changed", "project_id", "provider"),
    [
        ({}, "prj_b", Provider.GITHUB),
        ({}, None, Provider.GITHUB),
        ({}, "prj_a", Provider.GITEA),
        ({"secret_id": "another"}, "prj_a", Provider.GITHUB),
        ({"key_version": "2"}, "prj_a", Provider.GITHUB),
        ({"key_version": "9"}, "prj_a", Provider.GITHUB),
        ({"nonce": "AAAA"}, "prj_a", Provider.GITHUB),
        ({"nonce": "no base64"}, "prj_a", Provider.GITHUB),
        ({"ciphertext": ""}, "prj_a", Provider.GITHUB),
    ],
)
def test_a_secret_opens_in_no_other_place(changed: dict[str, str], project_id: str | None, provider: Provider) -> None:
    moved = sealed_by(OLD).model_copy(update=changed)
    assert kept(NEW).secret(verification(moved, project_id=project_id), provider) is None


def test_no_secret_is_no_secret() -> None:
    assert kept(OLD).secret(verification(None), Provider.GITHUB) is None


@pytest.mark.inv("K10")
def test_what_an_old_key_sealed_still_opens_and_the_current_key_seals() -> None:
    assert kept(NEW).secret(verification(sealed_by(OLD)), Provider.GITHUB) == SECRET.encode()
    assert sealed_by(NEW).key_version == "2"


@pytest.mark.inv("K7")
def test_one_secret_sealed_twice_looks_different_each_time() -> None:
    one, two = sealed_by(OLD), sealed_by(OLD)
    assert (one.nonce, one.ciphertext, one.secret_id) != (two.nonce, two.ciphertext, two.secret_id)


def test_a_sealed_secret_shows_no_plain_text() -> None:
    assert SECRET not in sealed_by(OLD).model_dump_json()


@pytest.mark.parametrize(
    ("host", "signing_token", "form"),
    [
        (GitHub(), False, r"[A-Za-z0-9_-]{44}"),
        (Gitea(), False, r"[A-Za-z0-9_-]{44}"),
        (GitLab(), False, r"[A-Za-z0-9_-]{44}"),
        (GitLab(), True, r"whsec_[A-Za-z0-9+/]{43}="),
    ],
)
def test_generated_secrets_have_their_hosts_form_and_are_never_the_same(
    host: GitHost, signing_token: bool, form: str
) -> None:
    config = WebhookConfig(signing_token=signing_token)
    made = {custody.generate(SystemIds(), host, config) for _ in range(100)}
    assert len(made) == 100
    assert all(re.fullmatch(form, secret) and host.unfit(config, secret=secret) is None for secret in made)


@pytest.mark.inv("K8")
@pytest.mark.parametrize("secret", ["", "***", "15 bytes of it.", "ü" * 7])
def test_a_secret_of_fewer_than_16_bytes_is_weak(secret: str) -> None:
    with pytest.raises(WeakSecret):
        custody.check(secret, GitHub(), WebhookConfig())


@pytest.mark.parametrize("secret", ["16 bytes of text", "ü" * 8])
def test_16_bytes_are_enough(secret: str) -> None:
    custody.check(secret, GitHub(), WebhookConfig())


@pytest.mark.parametrize(
    "secret",
    [
        "sixteen bytes or more",
        "whsec_" + "A" * 28,
        "whsec_" + "A" * 88,
        "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaS",
        "whsec_MfKQ9r8GKYqrTwjU PD8ILPZIo2LaLaSw",
        "whsec_MfKQ9r8GKYqrTwjU_PD8ILPZIo2LaLaS",
        "WHSEC_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw",
        "MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw",
    ],
)
def test_what_is_no_signing_token_is_refused_and_what_one_looks_like_is_told(secret: str) -> None:
    with pytest.raises(Invalid, match="a signing token is whsec_ and the base64 of 24 to 64 bytes"):
        custody.check(secret, GitLab(), WebhookConfig(signing_token=True))


@pytest.mark.parametrize("secret", ["ends with a line\n", " begins with a space", "schlüssel fürs haus", "a\tb" * 8])
def test_what_no_header_can_carry_is_no_token(secret: str) -> None:
    with pytest.raises(Invalid, match="header"):
        custody.check(secret, GitLab(), WebhookConfig())
