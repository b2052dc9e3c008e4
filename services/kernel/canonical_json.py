"""JSON with one text for each value (RFC 8785), for what is compared or hashed.

Pure. Numbers are IEEE 754 doubles there, so that a whole number of more than 53 bits has no text of its own: it is
refused rather than rounded.
"""

from collections.abc import Iterator

import rfc8785

from services.kernel.errors import FieldProblem, Invalid
from services.kernel.strict_json import JsonValue

_LARGEST = 2**53 - 1
_WAY_OUT = "a whole number beyond 2^53 is not the same number everywhere; send it as text"


class NotCanonical(Invalid):
    """The value has no canonical form (RFC 8785)."""


def encode(value: JsonValue) -> bytes:
    """The canonical text in UTF-8.

    Raises:
        NotCanonical: with each number that cannot be held by its JSON pointer, and how it can be sent.
    """
    try:
        return rfc8785.dumps(value)
    except (rfc8785.CanonicalizationError, RecursionError) as error:
        problems = tuple(FieldProblem(field=pointer, message=_WAY_OUT) for pointer in _too_large(value))
        if problems:
            names = ", ".join(problem.field for problem in problems)
            raise NotCanonical(f"{names}: {_WAY_OUT}", fields=problems) from error
        raise NotCanonical("there is a number or a text that JSON cannot hold") from error


def _too_large(value: JsonValue, pointer: str = "") -> Iterator[str]:
    """RFC 6901 pointers to whole numbers beyond what a double holds exactly."""
    match value:
        case bool():
            return
        case int():
            if abs(value) > _LARGEST:
                yield pointer
        case dict():
            for name, item in value.items():
                yield from _too_large(item, f"{pointer}/{name.replace('~', '~0').replace('/', '~1')}")
        case list():
            for place, item in enumerate(value):
                yield from _too_large(item, f"{pointer}/{place}")
        case _:
            return
