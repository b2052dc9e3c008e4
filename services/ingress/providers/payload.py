"""A delivery's body as JSON, read strictly, and its fields with the types they must have.

Only what passes through here is kept: text without control characters, full commit ids.
"""

import re
from collections.abc import Iterable, Mapping
from typing import TypeAlias, cast
from urllib.parse import parse_qsl

from services.ingress.providers.port import Received
from services.kernel import strict_json
from services.kernel.errors import InvalidPayload
from services.kernel.ids import is_commit_sha

Json: TypeAlias = Mapping[str, object]

JSON = "application/json"
FORM = "application/x-www-form-urlencoded"

_FORM_FIELDS = 16
_CONTROL = re.compile(r"[\x00-\x1f\x7f]")
_ZERO_ID = re.compile(r"0{40}|0{64}")


def read(received: Received) -> Json:
    """The JSON object in the body, or in the form field `payload` of a form.

    Raises:
        InvalidPayload: not an object in strict JSON.
    """
    try:
        return _object(strict_json.parse(text_of(received)), "the body")
    except strict_json.NotStrictJson as error:
        raise InvalidPayload(f"the body is {error.detail}") from error


def text_of(received: Received) -> bytes:
    """The JSON text, whether it came as the body or in the field `payload` of a form.

    Raises:
        InvalidPayload: a form without one such field, or not a form.
    """
    return _form_payload(received.body) if received.media_type == FORM else received.body


def text(body: Json, key: str) -> str | None:
    """The text under `key`; None where there is none.

    Raises:
        InvalidPayload: there is something else, or text with control characters.
    """
    match body.get(key):
        case None:
            return None
        case str(value) if _CONTROL.search(value) is None:
            return value
        case _:
            raise InvalidPayload(f"{key} is not plain text")


def commit(body: Json, key: str) -> str | None:
    """The commit id under `key`; None where there is none or it is all zeros, which is how hosts say "no commit"."""
    value = text(body, key)
    if value is None or _ZERO_ID.fullmatch(value):
        return None
    if not is_commit_sha(value):
        raise InvalidPayload(f"{key} is not a full commit id in lower-case hex (C19)")
    return value


def commit_of(body: Json, key: str) -> str | None:
    """The id of the commit under `key`; None where none is told."""
    found = part(body, key)
    return None if found is None else commit(found, "id")


def part(body: Json, key: str) -> Json | None:
    """The object under `key`; None where there is none."""
    value = body.get(key)
    return None if value is None else _object(value, key)


def urls(repository: Json | None, keys: Iterable[str], *, required: bool) -> tuple[str, ...]:
    """The URLs that the repository is known by, in the order of `keys`, each once.

    Raises:
        InvalidPayload: there is none, and one is required.
    """
    known = repository or {}
    found = tuple(dict.fromkeys(url for key in keys if (url := text(known, key))))
    if required and not found:
        raise InvalidPayload("a push names its repository")
    return found


def _form_payload(body: bytes) -> bytes:
    try:
        fields = parse_qsl(body.decode("ascii"), strict_parsing=True, errors="strict", max_num_fields=_FORM_FIELDS)
    except ValueError as error:
        raise InvalidPayload("the body is not a form") from error
    match [value for name, value in fields if name == "payload"]:
        case [payload]:
            return payload.encode()
        case _:
            raise InvalidPayload("the form must have one field named payload")


def _object(value: object, name: str) -> Json:
    if not isinstance(value, dict):
        raise InvalidPayload(f"{name} is not an object")
    return cast("Json", value)
