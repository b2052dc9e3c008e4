"""One text for each value (RFC 8785), whatever the value was written like."""

import json
from pathlib import Path
from typing import TypedDict

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.kernel import canonical_json
from services.kernel.strict_json import JsonValue


class Vector(TypedDict):
    what: str
    text: str
    canonical: str


VECTORS: list[Vector] = json.loads((Path(__file__).parents[2] / "vectors" / "canonical_json.json").read_text())

LARGEST = 2**53 - 1
TEXTS = st.text(st.characters(codec="utf-8"))
SCALARS = (
    st.none()
    | st.booleans()
    | st.integers(-LARGEST, LARGEST)
    | st.floats(allow_nan=False, allow_infinity=False)
    | TEXTS
)
VALUES: st.SearchStrategy[JsonValue] = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXTS, inner, max_size=4), max_leaves=12
)


@pytest.mark.parametrize("vector", VECTORS, ids=lambda found: str(found["what"]))
def test_the_canonical_text_is_that_of_the_vectors(vector: Vector) -> None:
    assert canonical_json.encode(json.loads(vector["text"])).decode() == vector["canonical"]


@given(VALUES)
def test_the_canonical_text_means_the_same_value_and_is_its_own_canonical_text(value: JsonValue) -> None:
    text = canonical_json.encode(value)
    read = json.loads(text, parse_int=float)
    assert read == value
    assert canonical_json.encode(read) == text


@given(st.dictionaries(TEXTS, SCALARS, min_size=2, max_size=6))
def test_the_order_of_names_makes_no_difference(value: dict[str, JsonValue]) -> None:
    turned = dict(reversed(value.items()))
    assert canonical_json.encode(turned) == canonical_json.encode(value)


@pytest.mark.parametrize(
    ("value", "pointer"),
    [
        ({"amount": LARGEST + 1}, "/amount"),
        ({"amount": -LARGEST - 1}, "/amount"),
        ({"lines": [{"id": 1}, {"id": 2**63 - 1}]}, "/lines/1/id"),
        ({"a/b~c": 2**60}, "/a~1b~0c"),
    ],
)
def test_a_whole_number_that_is_not_the_same_everywhere_is_refused_by_its_place_and_with_the_way_out(
    value: JsonValue, pointer: str
) -> None:
    with pytest.raises(canonical_json.NotCanonical, match="send it as text") as refused:
        canonical_json.encode(value)
    assert [problem.field for problem in refused.value.fields] == [pointer]
    assert (refused.value.code, refused.value.retryable) == ("invalid_request", False)


@pytest.mark.parametrize("number", [LARGEST, -LARGEST, 0])
def test_the_largest_whole_numbers_that_are_the_same_everywhere_are_taken(number: int) -> None:
    assert canonical_json.encode(number) == str(number).encode()


@pytest.mark.parametrize("value", [float("nan"), float("inf"), "\ud800"])
def test_what_json_cannot_hold_is_refused(value: JsonValue) -> None:
    with pytest.raises(canonical_json.NotCanonical, match="cannot hold"):
        canonical_json.encode(value)
