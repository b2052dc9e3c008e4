"""How secrets are made, sealed and opened."""

import json

import pytest

from services.ingress import custody
from services.ingress.custody import Custody
from services.kernel.adapters.clock import SystemIds
from services.kernel.errors import WeakSecret
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


def test_generated_secrets_are_long_and_never_the_same() -> None:
    made = {custody.generate(SystemIds()) for _ in range(100)}
    assert len(made) == 100
    assert {len(secret) for secret in made} == {44}


@pytest.mark.inv("K8")
@pytest.mark.parametrize("secret", ["", "***", "15 bytes of it.", "ü" * 7])
def test_a_secret_of_fewer_than_16_bytes_is_weak(secret: str) -> None:
    with pytest.raises(WeakSecret):
        custody.check_strength(secret)


@pytest.mark.parametrize("secret", ["16 bytes of text", "ü" * 8])
def test_16_bytes_are_enough(secret: str) -> None:
    custody.check_strength(secret)
