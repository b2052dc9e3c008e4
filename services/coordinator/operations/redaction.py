"""What is kept of an answer: all but what the catalogue says is secret (K2); what is told of it: no credential (K1).

Pure.
"""

import re
from collections.abc import Sequence
from typing import Final

from services.coordinator.operations.model import Operation
from services.kernel.strict_json import JsonValue

REDACTED: Final = "[redacted]"
CREDENTIAL: Final = "[credential]"

SHORTEST_MASKED: Final = 8
"""Characters. Less is found in answers by chance, and would make nonsense of them."""

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


def echoes(operation: Operation, secret: str) -> tuple[str, ...]:
    """The texts by which an answer would give a credential away, the longest first."""
    if len(secret) < SHORTEST_MASKED:
        return ()
    scheme = None if operation.credential is None else operation.credential.scheme
    return (secret,) if scheme is None else (f"{scheme} {secret}", secret)


def masked(result: JsonValue, texts: Sequence[str]) -> JsonValue:
    """The result with a word in place of these texts, wherever they are in its strings and its keys."""
    match result:
        case str():
            for text in texts:
                result = result.replace(text, CREDENTIAL)
            return result
        case list():
            return [masked(item, texts) for item in result]
        case dict():
            return {str(masked(name, texts)): masked(value, texts) for name, value in result.items()}
        case _:
            return result


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
