"""Strict JSON: what two parsers might read differently is refused, and bad input comes to nothing but a refusal."""

import json
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.kernel.strict_json import MAX_DEPTH, JsonValue, NotStrictJson, parse

REFUSED: list[object] = [
    pytest.param(b"", id="nothing"),
    pytest.param(b"{", id="cut short"),
    pytest.param(b'{"a": 1} {', id="more after the end"),
    pytest.param(b"{'a': 1}", id="single quotes"),
    pytest.param(b'{"a": 1,}', id="trailing comma"),
    pytest.param(b'"\n"', id="a raw newline in a string"),
]


def nested(depth: int) -> bytes:
    return b"[" * depth + b"]" * depth


json_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**63 - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(exclude_categories=["Cs"])),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(st.characters(exclude_categories=["Cs"])), inner),
    max_leaves=20,
)


@given(json_values)
def test_every_json_value_is_read_as_it_was_written(value: JsonValue) -> None:
    assert parse(json.dumps(value).encode()) == value
    assert parse(json.dumps(value, ensure_ascii=False).encode()) == value


@given(st.binary() | st.text(alphabet='[]{}",:\\u0dD8 -e1.NaIfityrultrse').map(str.encode))
def test_whatever_comes_is_read_or_refused(raw: bytes) -> None:
    with suppress(NotStrictJson):
        parse(raw)


@pytest.mark.parametrize("raw", REFUSED)
def test_what_is_not_json_is_refused(raw: bytes) -> None:
    with pytest.raises(NotStrictJson):
        parse(raw)


def test_as_deep_as_allowed_is_read() -> None:
    assert parse(nested(MAX_DEPTH)) is not None


@pytest.mark.threat("A14")
@pytest.mark.parametrize("raw", [nested(65), nested(100_000), b'{"a":' * 65 + b"1" + b"}" * 65, b'{"a":' * 100_000])
def test_deeper_nesting_is_refused(raw: bytes) -> None:
    with pytest.raises(NotStrictJson, match="deeper than 64"):
        parse(raw)


def test_brackets_in_strings_nest_nothing() -> None:
    text = "[" * 200 + '"' + "{" * 200 + "\\"
    assert parse(json.dumps([text]).encode()) == [text]


@pytest.mark.threat("A15")
@pytest.mark.parametrize(
    "raw",
    [b"9223372036854775808", b"-9223372036854775809", b"1" * 5000, b"1e999", b"-1e999", b"NaN", b"Infinity"],
)
def test_numbers_that_do_not_fit_are_refused(raw: bytes) -> None:
    with pytest.raises(NotStrictJson):
        parse(raw)


@pytest.mark.parametrize(("raw", "value"), [(b"9223372036854775807", 2**63 - 1), (b"-9223372036854775808", -(2**63))])
def test_the_largest_numbers_fit(raw: bytes, value: int) -> None:
    assert parse(raw) == value


@pytest.mark.threat("A16")
@pytest.mark.parametrize("raw", [b'{"a": 1, "a": 1}', b'[{"b": {"a": 1, "\\u0061": 2}}]'])
def test_a_key_that_comes_twice_is_refused(raw: bytes) -> None:
    with pytest.raises(NotStrictJson, match="same key twice"):
        parse(raw)


@pytest.mark.threat("A17")
@pytest.mark.parametrize(
    "raw",
    [
        pytest.param('{"a": 1}'.encode("utf-16"), id="UTF-16"),
        pytest.param('{"a": 1}'.encode("utf-8-sig"), id="byte order mark"),
        pytest.param(b'"\xff"', id="not UTF-8"),
        pytest.param(b'"\xc0\x80"', id="overlong"),
        pytest.param(b'"\xed\xa0\x80"', id="surrogate in UTF-8"),
        pytest.param(b'"\\ud800"', id="lone surrogate"),
        pytest.param(b'{"\\uDC00": 1}', id="lone surrogate in a key"),
    ],
)
def test_other_encodings_and_half_characters_are_refused(raw: bytes) -> None:
    with pytest.raises(NotStrictJson):
        parse(raw)


def test_a_pair_of_surrogates_is_one_character() -> None:
    assert parse(b'"\\ud83d\\ude00"') == "\U0001f600"


def test_a_refusal_tells_where_but_not_what() -> None:
    with pytest.raises(NotStrictJson) as refused:
        parse(b'{"secret": hunter2}')
    assert refused.value.detail == "not JSON at line 1, column 12: Expecting value"


def test_a_body_of_many_small_values_is_read_in_one_go() -> None:
    assert parse(b"[" + b"[]," * 100_000 + b"[]]") == [[]] * 100_001
