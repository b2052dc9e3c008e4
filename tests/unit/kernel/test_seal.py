"""Sealed secrets open in their own place, with their own key, and nowhere else."""

import base64
import json
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.kernel.seal import Keyring, KeyringInvalid, Sealed, Unsealable, aad, create_keyring

KEYS = {"1": b"1" * 32, "2": b"2" * 32}
PLACE = aad("prj_a", "github", "secret-1", "1")


def ring(*versions: str, current: str = "1") -> Keyring:
    return Keyring({version: KEYS[version] for version in versions or ("1",)}, current=current)


def document(current: str = "1", **keys: bytes) -> bytes:
    return json.dumps(
        {"current": current, "keys": {name: base64.b64encode(key).decode() for name, key in keys.items()}}
    ).encode()


@given(st.binary())
def test_what_was_sealed_opens(plain: bytes) -> None:
    assert ring().open(ring().seal(plain, PLACE), PLACE) == plain


@pytest.mark.inv("K6")
@pytest.mark.threat("A58")
@pytest.mark.parametrize(
    "place",
    [
        aad("prj_b", "github", "secret-1", "1"),
        aad("prj_a", "gitlab", "secret-1", "1"),
        aad("prj_a", "github", "secret-2", "1"),
        aad("prj_a", "github", "secret-1", "2"),
    ],
)
def test_a_ciphertext_moved_to_another_place_does_not_open(place: bytes) -> None:
    with pytest.raises(Unsealable):
        ring().open(ring().seal(b"secret", PLACE), place)


@given(st.lists(st.text(), min_size=4, max_size=4), st.lists(st.text(), min_size=4, max_size=4))
def test_no_two_places_read_alike(one: list[str], other: list[str]) -> None:
    assert (aad(*one) == aad(*other)) is (one == other)


def test_parts_of_a_place_cannot_flow_into_each_other() -> None:
    assert aad("ab", "c", "d", "1") != aad("a", "bc", "d", "1")


@pytest.mark.inv("K7")
def test_two_sealings_of_one_secret_differ() -> None:
    sealed = [ring().seal(b"secret", PLACE) for _ in range(100)]
    assert len({each.nonce for each in sealed}) == 100
    assert len({each.ciphertext for each in sealed}) == 100
    assert {len(each.nonce) for each in sealed} == {12}


@pytest.mark.inv("K10")
def test_an_old_key_still_opens_and_the_current_one_seals() -> None:
    old = ring("1").seal(b"secret", PLACE)
    both = ring("1", "2", current="2")
    assert both.open(old, PLACE) == b"secret"
    assert both.seal(b"secret", PLACE).key_version == "2"


def test_a_key_version_that_is_not_in_the_ring_opens_nothing() -> None:
    with pytest.raises(Unsealable):
        ring("1").open(ring("2", current="2").seal(b"secret", PLACE), PLACE)


def test_another_key_under_the_same_version_opens_nothing() -> None:
    with pytest.raises(Unsealable):
        Keyring({"1": b"x" * 32}, current="1").open(ring().seal(b"secret", PLACE), PLACE)


@given(st.integers(0, 21), st.integers(1, 255))
def test_a_single_changed_byte_opens_nothing(place: int, change: int) -> None:
    sealed = ring().seal(b"secret", PLACE)
    damaged = bytearray(sealed.ciphertext)
    damaged[place] ^= change
    with pytest.raises(Unsealable):
        ring().open(replace(sealed, ciphertext=bytes(damaged)), PLACE)


@pytest.mark.parametrize(
    ("nonce", "ciphertext"), [(b"", b""), (b"n" * 12, b""), (b"n", b"c" * 20), (b"n" * 200, b"c" * 20)]
)
def test_what_never_was_a_ciphertext_opens_nothing(nonce: bytes, ciphertext: bytes) -> None:
    with pytest.raises(Unsealable):
        ring().open(Sealed(key_version="1", nonce=nonce, ciphertext=ciphertext), PLACE)


def test_a_ring_is_loaded_from_its_document() -> None:
    loaded = Keyring.load(document("2", **{"1": KEYS["1"], "2": KEYS["2"]}))
    assert loaded.current == "2"
    assert loaded.open(ring().seal(b"secret", PLACE), PLACE) == b"secret"


def test_a_new_ring_is_usable_and_another_each_time() -> None:
    one = Keyring.load(create_keyring())
    assert one.open(one.seal(b"secret", PLACE), PLACE) == b"secret"
    with pytest.raises(Unsealable):
        Keyring.load(create_keyring()).open(one.seal(b"secret", PLACE), PLACE)


@pytest.mark.parametrize(
    "raw",
    [
        pytest.param(b"", id="empty"),
        pytest.param(b"{}", id="nothing in it"),
        pytest.param(document("2", **{"1": KEYS["1"]}), id="no current key"),
        pytest.param(document("1", **{"1": b"short"}), id="a short key"),
        pytest.param(b'{"current": "1", "keys": {"1": "?"}}', id="not base64"),
        pytest.param(b'{"current": "1", "keys": {}, "more": 1}', id="an unknown field"),
    ],
)
def test_an_unusable_ring_is_refused(raw: bytes) -> None:
    with pytest.raises(KeyringInvalid):
        Keyring.load(raw)


def test_a_refused_ring_does_not_show_its_keys() -> None:
    with pytest.raises(KeyringInvalid) as refused:
        Keyring.load(b'{"current": "1", "keys": {"1": ["hunter2"]}}')
    assert "hunter2" not in f"{refused.value} {refused.value.__cause__}"


def test_neither_a_ring_nor_what_it_sealed_shows_itself() -> None:
    assert "1111" not in repr(ring())
    assert "ciphertext" not in repr(ring().seal(b"secret", PLACE))
