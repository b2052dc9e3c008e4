"""Headers that must come exactly once: of two values, each reader might believe another (A5)."""

import re

from starlette.datastructures import Headers

from services.kernel.errors import InvalidDeliveryId, InvalidPayload

DELIVERY_ID = re.compile(r"[\x20-\x7e]{1,256}")
EVENT_NAME = re.compile(r"[\x21-\x7e][\x20-\x7e]{0,255}")


def only(headers: Headers, name: str) -> str | None:
    """The header's value, if there is exactly one header of that name."""
    match headers.getlist(name):
        case [value]:
            return value
        case _:
            return None


def delivery_id(headers: Headers, name: str) -> str:
    """The header's value as a delivery id: 1 to 256 printable ASCII characters."""
    value = only(headers, name)
    if value is None or DELIVERY_ID.fullmatch(value) is None:
        raise InvalidDeliveryId(f"{name} must come once, with 1 to 256 printable ASCII characters")
    return value


def event_name(headers: Headers, name: str) -> str:
    """The header's value as the name of an event."""
    value = only(headers, name)
    if value is None or EVENT_NAME.fullmatch(value) is None:
        raise InvalidPayload(f"{name} must come once and name an event")
    return value
