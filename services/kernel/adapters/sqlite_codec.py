"""Documents as JSON text: lossless, readable in any SQLite shell, the same bytes for the same content.

Bytes and times are objects with one reserved name (`{"__time__": …}`), which no document can hold by itself: names of
that form are refused by the document rules.
"""

from base64 import b64decode, b64encode
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import cast

import orjson

from services.kernel.ports import Document, Value

_BYTES = "__bytes__"
_TIME = "__time__"


def encode(document: Document) -> bytes:
    """Equal documents give equal bytes, whatever the order of their fields."""
    return orjson.dumps(_to_json(document), option=orjson.OPT_SORT_KEYS)


def decode(raw: bytes) -> dict[str, Value]:
    fields: dict[str, object] = orjson.loads(raw)
    return {name: _from_json(value) for name, value in fields.items()}


def _to_json(value: Value) -> object:
    match value:
        case None | bool() | int() | float() | str():
            return value
        case bytes():
            return {_BYTES: b64encode(value).decode()}
        case datetime():
            return {_TIME: value.astimezone(UTC).isoformat()}
        case Mapping():
            return {name: _to_json(item) for name, item in value.items()}
        case _:
            return [_to_json(item) for item in value]


def _from_json(value: object) -> Value:
    match value:
        case None | bool() | int() | float() | str():
            return value
        case {"__bytes__": str(text)}:
            return b64decode(text)
        case {"__time__": str(text)}:
            return datetime.fromisoformat(text)
        case dict():
            return {name: _from_json(item) for name, item in cast("dict[str, object]", value).items()}
        case _:
            return [_from_json(item) for item in cast("list[object]", value)]
