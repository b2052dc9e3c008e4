"""The `Idempotency-Key` header: the same key, the same run (C16)."""

import re

from starlette.datastructures import Headers

from services.kernel.errors import FieldProblem, Invalid

HEADER = "Idempotency-Key"

_KEY = re.compile(r"[\x21-\x7e]{1,255}")


def idempotency_key(headers: Headers) -> str | None:
    """The key that came along, if any.

    Raises:
        Invalid: more than one came, or it is not 1 to 255 visible ASCII characters.
    """
    match headers.getlist(HEADER):
        case []:
            return None
        case [key] if _KEY.fullmatch(key):
            return key
        case _:
            message = "must come once, with 1 to 255 visible ASCII characters"
            raise Invalid(f"{HEADER} {message}", fields=(FieldProblem(field=HEADER, message=message),))
