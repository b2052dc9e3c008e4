"""What a row is called, and what tells requests apart."""

import json
import struct
from hashlib import sha256
from pathlib import Path
from typing import TypedDict

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.coordinator.ledger import keys
from services.kernel.errors import Invalid
from services.kernel.strict_json import JsonValue


class Named(TypedDict):
    service: str
    environment: str
    upstream: str
    profile: str | None
    key: str
    id: str


class Asked(TypedDict):
    operation: str
    input: JsonValue
    canonical: str
    principal: str | None
    fingerprint: str


class Vectors(TypedDict):
    documents: list[Named]
    fingerprints: list[Asked]


VECTORS: Vectors = json.loads((Path(__file__).parents[3] / "vectors" / "ledger_keys.json").read_text())
TEXTS = st.text(st.characters(codec="utf-8"), max_size=8)


def by_hand(*parts: str) -> str:
    """Each part led by its length: eight bytes, the most significant first."""
    raw = [part.encode() for part in parts]
    return sha256(b"".join(struct.pack(">Q", len(part)) + part for part in raw)).hexdigest()


@pytest.mark.parametrize("named", VECTORS["documents"], ids=lambda found: str(found["id"][:8]))
@pytest.mark.req("R97")
@pytest.mark.inv("I5")
def test_a_row_is_named_by_where_the_call_goes_and_the_key(named: Named) -> None:
    place = (named["service"], named["environment"], named["upstream"], named["profile"], named["key"])
    assert _row(*place) == named["id"]
    assert by_hand(*(part or "" for part in place)) == named["id"]


@pytest.mark.parametrize("asked", VECTORS["fingerprints"], ids=lambda found: str(found["fingerprint"][:8]))
@pytest.mark.req("R98")
@pytest.mark.inv("I6")
def test_a_request_is_what_is_asked_for_and_who_asks(asked: Asked) -> None:
    found = keys.request_fingerprint(operation=asked["operation"], input=asked["input"], principal=asked["principal"])
    assert found == asked["fingerprint"]
    assert found == by_hand(asked["operation"], asked["canonical"], *filter(None, [asked["principal"]]))


def test_the_vectors_differ_but_where_two_texts_mean_one_request() -> None:
    assert len({named["id"] for named in VECTORS["documents"]}) == len(VECTORS["documents"]) == 7
    assert len({asked["fingerprint"] for asked in VECTORS["fingerprints"]}) == len(VECTORS["fingerprints"]) - 1 == 6


@given(st.tuples(TEXTS, TEXTS, TEXTS, TEXTS, TEXTS), st.tuples(TEXTS, TEXTS, TEXTS, TEXTS, TEXTS))
def test_two_places_share_no_row(one: tuple[str, str, str, str, str], other: tuple[str, str, str, str, str]) -> None:
    assert (_row(*one) == _row(*other)) is (one == other)


@given(TEXTS, TEXTS, st.none() | TEXTS, TEXTS, TEXTS, st.none() | TEXTS)
def test_two_requests_share_no_fingerprint(
    operation: str, text: str, principal: str | None, operation2: str, text2: str, principal2: str | None
) -> None:
    one = keys.request_fingerprint(operation=operation, input={"a": text}, principal=principal)
    other = keys.request_fingerprint(operation=operation2, input={"a": text2}, principal=principal2)
    assert (one == other) is ((operation, text, principal) == (operation2, text2, principal2))


@pytest.mark.req("R100")
def test_without_a_verified_caller_the_request_alone_is_told_apart() -> None:
    def asked(principal: str | None) -> str:
        return keys.request_fingerprint(operation="o", input={}, principal=principal)

    assert asked(None) == asked(None) == by_hand("o", "{}")
    assert len({asked(None), asked(""), asked("ada@example.com")}) == 3


@given(st.text(st.characters(codec="ascii", categories=["L", "N"]), min_size=12))
@pytest.mark.req("R96")
def test_neither_key_nor_caller_shows_in_a_name(secret: str) -> None:
    names = [_row("anvil", "prod", "https://b.example", "p", secret), _asked_by(secret)]
    assert all(secret not in name for name in names)
    assert all(len(name) == 64 and set(name) <= set("0123456789abcdef") for name in names)


def test_a_number_that_is_not_the_same_everywhere_has_no_fingerprint() -> None:
    with pytest.raises(Invalid, match="/amount"):
        keys.request_fingerprint(operation="o", input={"amount": 2**53}, principal=None)


def test_a_reference_is_where_firestore_has_the_row() -> None:
    assert keys.reference("anvil_idempotency_0123456789abcdef", "ab" * 32) == (
        f"firestore/anvil_idempotency_0123456789abcdef/{'ab' * 32}"
    )


def _row(service: str, environment: str, upstream: str, profile: str | None, key: str) -> str:
    return keys.document_id(service=service, environment=environment, upstream=upstream, profile=profile, key=key)


def _asked_by(principal: str) -> str:
    return keys.request_fingerprint(operation="o", input={}, principal=principal)
