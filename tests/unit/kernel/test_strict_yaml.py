"""Reviewed YAML as JSON: what only YAML would understand is refused. The rest is tested by the pipeline file."""

import pytest

from services.kernel.strict_yaml import Limits, Refused, Value, read

LIMITS = Limits(size=10_000, depth=8, nodes=500)


def value(text: str) -> Value:
    return Value(read(text.encode(), limits=LIMITS))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "{a: [1, -2, 2.5, true, false, null], b: text, 'c': '1'}",
            {"a": [1, -2, 2.5, True, False, None], "b": "text", "c": "1"},
        ),
        ("a:", {"a": None}),
        ('"1e5"', "1e5"),
        ("x: |\n  two\n  lines\n", {"x": "two\nlines\n"}),
        ("a: &x {b: 1}\nc: *x", {"a": {"b": 1}, "c": {"b": 1}}),
        ("1.0e+5", 100000.0),
    ],
)
def test_plain_data_is_json(text: str, expected: object) -> None:
    assert value(text).json() == expected


@pytest.mark.parametrize(
    "word",
    [
        "yes",
        "On",
        "True",
        "~",
        "NULL",
        "017",
        "0x1f",
        "1_000",
        "1:30",
        ".5",
        "5.",
        ".inf",
        ".nan",
        "1e5",
        "+1",
        "2026-11-30",
        "1" * 18,
    ],
)
def test_what_yaml_would_guess_is_refused(word: str) -> None:
    with pytest.raises(Refused, match=r"^line 1: a"):
        value(f"a: {word}").json()


def test_a_key_given_twice_is_refused_with_its_place() -> None:
    with pytest.raises(Refused, match=r"^line 2: a\.b: is given twice"):
        value("a: {b: 1,\n  b: 2}").json()


@pytest.mark.parametrize("text", ["1: a", "true: a", "<<: {a: 1}", "? [a]\n: b"])
def test_a_key_is_text(text: str) -> None:
    with pytest.raises(Refused):
        value(text).json()


@pytest.mark.parametrize("word", ["yes", "no", "on", "True", "1", "'true'"])
def test_a_flag_is_true_or_false(word: str) -> None:
    with pytest.raises(Refused, match="must be true or false"):
        value(word).flag()
