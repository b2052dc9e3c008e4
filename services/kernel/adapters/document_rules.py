"""What a document may be, checked before any store is asked, so that every store refuses the same documents.

At least as strict as Firestore (its published limits and size rules; `__x__` names are reserved there). Sizes are of
the stored path: a collection's namespace digest counts. Everything refused here is `Invalid` and nothing was sent.
"""

import re
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from math import isfinite

from services.kernel.errors import Invalid
from services.kernel.namespace import stored_collection
from services.kernel.ports import Create, Delete, Document, Ref, Replace, Value, Write

DOCUMENT_BYTES = 1_048_576
REQUEST_BYTES = 4 * 1_048_576
VALUE_BYTES = 1_048_487
NAME_BYTES = 1500
PATH_BYTES = 6144
DEPTH = 20
"""Levels of maps and lists, the document itself included."""

_RESERVED = re.compile(r"__.*__", re.DOTALL)


def stored(ref: Ref, *, namespace: str) -> Ref:
    """Where a deployment keeps the document, once its collection is known to be a legal one."""
    check_collection(ref.collection)
    return Ref(stored_collection(namespace, ref.collection), ref.id)


def check_writes(writes: Sequence[Write]) -> None:
    """Refuse a batch that no store would take.

    Raises:
        Invalid: a size, id, name, depth or value is out of bounds, a nonce is missing, or a document is written twice.
    """
    if len({write.ref for write in writes}) != len(writes):
        raise Invalid("A batch writes each document at most once.")
    if (size := sum(_write_size(write) for write in writes)) > REQUEST_BYTES:
        raise Invalid(f"The batch has {size} bytes; at most {REQUEST_BYTES} are taken.")


def check_ref(ref: Ref) -> int:
    """The size of a document's name in bytes, once it is known to be a legal one."""
    segments = [*check_collection(ref.collection), ref.id]
    _check_id(ref.id)
    if (length := len("/".join(segments).encode())) > PATH_BYTES:
        raise Invalid(f"The document's path has {length} bytes; at most {PATH_BYTES} are taken.")
    return sum(len(segment.encode()) + 1 for segment in segments) + 16


def check_collection(collection: str) -> list[str]:
    """The segments of a legal collection path: names and ids in turn, a name at both ends."""
    segments = collection.split("/")
    if len(segments) % 2 == 0:
        raise Invalid(f"{collection!r} is a document's path, not a collection's.")
    for segment in segments:
        _check_id(segment)
    return segments


def check_value(value: Value) -> None:
    """Refuse a value that no document could hold."""
    _value_size(value, depth=1)


def _write_size(write: Write) -> int:
    name = check_ref(write.ref)
    match write:
        case Delete():
            return name
        case Create(data=data) | Replace(data=data):
            return _document_size(write.ref, data, name=name)


def _document_size(ref: Ref, data: Document, *, name: int) -> int:
    if not (isinstance(nonce := data.get("nonce"), str) and nonce):
        raise Invalid(f"{ref.collection}/{ref.id} has no nonce.")
    if (size := name + _map_size(data, depth=1) + 32) > DOCUMENT_BYTES:
        raise Invalid(f"{ref.collection}/{ref.id} has {size} bytes; at most {DOCUMENT_BYTES} are taken.")
    return size


def _map_size(fields: Mapping[str, Value], *, depth: int) -> int:
    _check_depth(depth)
    return sum(_field_name_size(name) + _value_size(value, depth=depth) for name, value in fields.items())


def _list_size(items: Sequence[Value], *, depth: int) -> int:
    _check_depth(depth)
    if any(isinstance(item, Sequence) and not isinstance(item, str | bytes) for item in items):
        raise Invalid("A list cannot hold a list.")
    return sum(_value_size(item, depth=depth) for item in items)


def _value_size(value: Value, *, depth: int) -> int:
    match value:
        case None | bool():
            return 1
        case int() | float() | datetime():
            return _fixed_size(value)
        case str():
            return _bounded(_text_size(value)) + 1
        case bytes():
            return _bounded(len(value))
        case Mapping():
            return _map_size(value, depth=depth + 1)
        case _:
            return _list_size(value, depth=depth + 1)


def _fixed_size(value: int | float | datetime) -> int:
    match value:
        case datetime():
            _check_moment(value)
        case float() if not isfinite(value):
            raise Invalid(f"{value} is not a finite number.")
        case int() if not -(2**63) <= value < 2**63:
            raise Invalid("A whole number has at most 64 bits.")
        case _:
            pass
    return 8


def _check_moment(moment: datetime) -> None:
    if moment.utcoffset() is None:
        raise Invalid(f"{moment.isoformat()} names no time zone.")
    try:
        moment.astimezone(UTC)
    except OverflowError as error:
        raise Invalid(f"{moment.isoformat()} is outside the years 1 to 9999 in UTC.") from error


def _check_depth(depth: int) -> None:
    if depth > DEPTH:
        raise Invalid(f"The document is nested more than {DEPTH} levels deep.")


def _check_id(segment: str) -> None:
    size = _text_size(segment)
    if not 0 < size <= NAME_BYTES or segment in {".", ".."} or "/" in segment or _RESERVED.fullmatch(segment):
        raise Invalid(f"{segment[:80]!r} cannot be a document's or a collection's id.")


def _field_name_size(name: str) -> int:
    size = _text_size(name)
    if not 0 < size <= NAME_BYTES or _RESERVED.fullmatch(name):
        raise Invalid(f"{name[:80]!r} cannot be a field's name.")
    return size + 1


def _bounded(size: int) -> int:
    if size > VALUE_BYTES:
        raise Invalid(f"A value has {size} bytes; at most {VALUE_BYTES} are taken.")
    return size


def _text_size(text: str) -> int:
    try:
        return len(text.encode())
    except UnicodeEncodeError as error:
        raise Invalid("A text holds half of a surrogate pair.") from error
