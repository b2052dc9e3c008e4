"""The `If-Match` header: at which version something was last seen (RFC 9110 §13.1.1)."""

import re
from typing import Final

from starlette.datastructures import Headers

from services.kernel.errors import FieldProblem, Invalid, VersionRequired

HEADER: Final = "If-Match"

_STRONG = re.compile(r'"([\x21\x23-\x7e]{1,200})"')


def etag(version: str) -> str:
    """The version as an `ETag`."""
    return f'"{version}"'


def if_match(headers: Headers) -> str:
    """The one version that the header names.

    Raises:
        VersionRequired: there is no such header.
        Invalid: it names none or several, or is weak or `*`, which would hold for what nobody has looked at.
    """
    match headers.getlist(HEADER):
        case []:
            raise VersionRequired
        case [value] if (found := _STRONG.fullmatch(value.strip())) is not None:
            return found[1]
        case _:
            message = "must be one strong ETag in quotes, as the row had it"
            raise Invalid(f"{HEADER} {message}", fields=(FieldProblem(field=HEADER, message=message),))
