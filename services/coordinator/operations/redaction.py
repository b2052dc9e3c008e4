"""What is stored of an answer: all but what the catalogue says is secret (K2).

Pure.
"""

import re
from collections.abc import Sequence
from typing import Final

from services.kernel.strict_json import JsonValue

REDACTED: Final = "[redacted]"
_POINTER = re.compile(r"(?:/(?:[^/~]|~[01])*)*")


def is_pointer(text: str) -> bool:
    """Whether it is a JSON pointer (RFC 6901); a step `*` stands for each item of a list."""
    return _POINTER.fullmatch(text) is not None


def redacted(result: JsonValue, pointers: Sequence[str], *, is_json: bool = True) -> JsonValue:
    """The result with a word in place of what the pointers lead to. Where nothing is there, nothing is put.

    An answer that is not JSON cannot be walked, and may have a secret anywhere: with pointers none of it stays.
    """
    if pointers and not is_json:
        return REDACTED
    for pointer in pointers:
        result = _without(result, [_unescaped(step) for step in pointer.split("/")[1:]])
    return result


def redacted_text_or_json(result: JsonValue, pointers: Sequence[str]) -> JsonValue:
    """The same for an answer of which it is not known any more whether it was JSON: a text may be one that was not."""
    return redacted(result, pointers, is_json=not isinstance(result, str))


def _without(value: JsonValue, steps: Sequence[str]) -> JsonValue:
    if not steps:
        return REDACTED
    step, rest = steps[0], steps[1:]
    if isinstance(value, dict) and step in value:
        return {**value, step: _without(value[step], rest)}
    if isinstance(value, list):
        return [_without(item, rest) if step in ("*", str(place)) else item for place, item in enumerate(value)]
    return value


def _unescaped(step: str) -> str:
    return step.replace("~1", "/").replace("~0", "~")
