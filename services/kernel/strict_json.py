"""JSON from strangers, read strictly (RFC 8259, I-JSON): anything two parsers might read differently is refused.

Pure. UTF-8 without a byte order mark, no duplicate keys, no NaN, infinities or lone surrogates, integers of 64 bits,
nesting of at most 64.
"""

import json
import math
import re
from typing import NoReturn, TypeAlias

from services.kernel.errors import Invalid

JsonValue: TypeAlias = "None | bool | int | float | str | list[JsonValue] | dict[str, JsonValue]"

MAX_DEPTH = 64

_STRING = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*"')
_SURROGATE = re.compile(r"\\u[dD][89a-fA-F]")
_BRACES_AS_BRACKETS = str.maketrans("{}", "[]")
_NOT_A_BRACKET = re.compile(r"[^\[\]{}]+")


class NotStrictJson(Invalid):
    """The body is not strict JSON in UTF-8."""


def parse(raw: bytes) -> JsonValue:
    """The value that `raw` stands for.

    Raises:
        NotStrictJson: with the reason, and never with a piece of the text.
    """
    text = _decoded(raw)
    try:
        value: JsonValue = json.loads(
            text,
            object_pairs_hook=_object,
            parse_int=_integer,
            parse_float=_number,
            parse_constant=_constant,
        )
    except RecursionError as error:
        raise _too_deep() from error
    except json.JSONDecodeError as error:
        raise NotStrictJson(f"not JSON at line {error.lineno}, column {error.colno}: {error.msg}") from error
    if _deeper_than(text, MAX_DEPTH):
        raise _too_deep()
    if _SURROGATE.search(text):
        _refuse_lone_surrogates(value)
    return value


def _decoded(raw: bytes) -> str:
    try:
        text = raw.decode("utf-8")
    except UnicodeDecodeError as error:
        raise NotStrictJson(f"not UTF-8 at byte {error.start}") from error
    if text.startswith("\ufeff"):
        raise NotStrictJson("a byte order mark stands before the JSON")
    return text


def _object(pairs: list[tuple[str, JsonValue]]) -> dict[str, JsonValue]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise NotStrictJson("an object has the same key twice")
    return found


def _integer(text: str) -> int:
    # int() of a very long text raises a plain ValueError; 20 characters hold every 64-bit number.
    if len(text) > 20 or not -(2**63) <= int(text) < 2**63:
        raise NotStrictJson("an integer does not fit in 64 bits")
    return int(text)


def _number(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise NotStrictJson("a number is too large")
    return number


def _constant(name: str) -> NoReturn:
    raise NotStrictJson(f"{name} is not JSON")


def _too_deep() -> NotStrictJson:
    return NotStrictJson(f"nested deeper than {MAX_DEPTH}")


def _deeper_than(text: str, depth: int) -> bool:
    """Whether valid JSON nests deeper: each round takes the innermost level of brackets away."""
    brackets = _NOT_A_BRACKET.sub("", _STRING.sub("", text)).translate(_BRACES_AS_BRACKETS)
    for _ in range(depth):
        if not brackets:
            return False
        brackets = brackets.replace("[]", "")
    return bool(brackets)


def _refuse_lone_surrogates(value: JsonValue) -> None:
    try:
        json.dumps(value, ensure_ascii=False).encode()
    except UnicodeEncodeError as error:
        raise NotStrictJson("a string has half of a surrogate pair") from error
