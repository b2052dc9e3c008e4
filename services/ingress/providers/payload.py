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
    raw = _form_payload(received.body) if received.media_type == FORM else received.body
    try:
        return _object(strict_json.parse(raw), "the body")
    except strict_json.NotStrictJson as error:
        raise InvalidPayload(f"the body is {error.detail}") from error


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


def part(body: Json, key: str) -> Json | None:
    """The object under `key`; None where there is none."""
    value = body.get(key)
    return None if value is None else _object(value, key)


def urls(repository: Json | None, keys: Iterable[str]) -> tuple[str, ...]:
    """The URLs that the repository is known by, in the order of `keys`, each once."""
    if repository is None:
        return ()
    return tuple(dict.fromkeys(url for key in keys if (url := text(repository, key))))


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
