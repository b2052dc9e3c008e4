"""How a key, an id or a credential travels, as the catalogue says it.

Pure.
"""

import re
from typing import Final, TypeVar

from services.coordinator.operations.model import Carrier, Credential, Place
from services.coordinator.operations.modes import RULES, Carries
from services.kernel.strict_yaml import Value
from services.kernel.wire.operations import Mode

_PROFILE = re.compile(r"[a-z0-9][a-z0-9-]{0,62}")
_TOKEN = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]{1,100}")
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9-]{0,31}")

_OURS: Final = frozenset(
    {
        "accept",
        "accept-encoding",
        "connection",
        "content-encoding",
        "content-length",
        "content-type",
        "expect",
        "host",
        "keep-alive",
        "te",
        "trailer",
        "transfer-encoding",
        "upgrade",
        "user-agent",
    }
)
"""Headers that make a request what it is; no catalogue sets them."""

Word = TypeVar("Word", bound=Mode | Place)


def carrier(idempotency: Value) -> tuple[Mode, Carrier | None]:
    """The mode, and the carrier that it needs, or does not have.

    Raises:
        Refused: with the line and the field.
    """
    fields = idempotency.fields(required=frozenset({"mode"}), optional=frozenset({"carrier"}))
    mode = _word(fields["mode"], Mode)
    carries = RULES[mode].carries
    if "carrier" not in fields:
        if carries is not Carries.NOTHING:
            raise idempotency.refused(f"mode {mode} needs a carrier")
        return mode, None
    if carries is Carries.NOTHING:
        raise fields["carrier"].refused(f"mode {mode} has nothing to carry")
    return mode, _carrier(fields["carrier"], carries)


def credential(field: Value) -> Credential:
    """
    Raises:
        Refused: with the line and the field.
    """
    fields = field.fields(required=frozenset({"profile", "header"}), optional=frozenset({"scheme"}))
    profile = fields["profile"].text()
    if _PROFILE.fullmatch(profile) is None:
        raise fields["profile"].refused("is made of a-z, 0-9 and '-', at most 63 characters: it is a file's name")
    scheme = fields["scheme"].text() if "scheme" in fields else None
    if scheme is not None and _SCHEME.fullmatch(scheme) is None:
        raise fields["scheme"].refused("is not an authentication scheme, as Bearer is one")
    return Credential(profile=profile, header=_header(fields["header"]), scheme=scheme)


def _carrier(field: Value, carries: Carries) -> Carrier:
    fields = field.fields(required=frozenset({"in", "name"}))
    place = _word(fields["in"], Place)
    if place is not Place.HEADER:
        return Carrier(place=place, name=fields["name"].filled(at_most=100))
    if carries is Carries.ID:
        raise fields["in"].refused("an id of the input travels in path, query or body")
    return Carrier(place=place, name=_header(fields["name"]))


def _header(field: Value) -> str:
    name = field.text()
    if _TOKEN.fullmatch(name) is None:
        raise field.refused("is not the name of a header")
    if name.lower() in _OURS or name.lower().startswith("proxy-"):
        raise field.refused("this header is not the catalogue's to set")
    return name


def _word(field: Value, kind: type[Word]) -> Word:
    try:
        return kind(field.text())
    except ValueError as error:
        raise field.refused(f"must be one of {', '.join(str(word) for word in kind)}") from error
