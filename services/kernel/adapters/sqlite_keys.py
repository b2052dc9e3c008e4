"""Values as bytes whose order is the values' order, so that an index is one sorted list of byte strings.

Firestore's order of types: null, booleans, numbers, times, texts, bytes, lists, maps; whole numbers and floats compare
as numbers, exactly. No encoding is a prefix of another, so encodings may be chained, and inverting each byte turns the
order around.
"""

import struct
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from math import inf, nextafter

from services.kernel.ports import Value

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_END = b"\x00"


def encode(value: Value, *, descending: bool = False) -> bytes:
    """The bytes of one value; the first of them tells its type."""
    ascending = tag(value) + _body(value)
    return _inverted(ascending) if descending else ascending


def tag(value: Value, *, descending: bool = False) -> bytes:
    """The first byte of every value of this one's type."""
    ascending = bytes([_rank(value)])
    return _inverted(ascending) if descending else ascending


def after(prefix: bytes) -> bytes:
    """The least bytes that are greater than all that begin with `prefix`, which is not all 0xFF."""
    head = prefix.rstrip(b"\xff")
    return head[:-1] + bytes([head[-1] + 1])


def _rank(value: Value) -> int:
    match value:
        case None:
            return 1
        case bool():
            return 2
        case int() | float():
            return 3
        case datetime():
            return 4
        case str():
            return 5
        case bytes():
            return 6
        case Mapping():
            return 8
        case _:
            return 7


def _body(value: Value) -> bytes:
    match value:
        case None:
            return b""
        case bool():
            return bytes([value])
        case int() | float():
            return _number(value)
        case datetime():
            return _signed((value - _EPOCH) // timedelta(microseconds=1))
        case str():
            return _terminated(value.encode())
        case bytes():
            return _terminated(value)
        case Mapping():
            return b"".join(encode(name) + encode(value[name]) for name in sorted(value)) + _END
        case _:
            return b"".join(encode(item) for item in value) + _END


def _number(value: int | float) -> bytes:
    """The greatest double that is not above the number, then what is missing: exact for every 64-bit integer."""
    floor = float(value)
    if isinstance(value, int) and int(floor) > value:
        floor = nextafter(floor, -inf)
    return _double(floor) + struct.pack(">H", int(value) - int(floor) if isinstance(value, int) else 0)


def _double(value: float) -> bytes:
    """IEEE 754 bits, the sign bit turned, and for negatives all others too; minus zero is zero."""
    (bits,) = struct.unpack(">Q", struct.pack(">d", value + 0.0))
    return struct.pack(">Q", bits ^ (2**64 - 1 if bits >> 63 else 1 << 63))


def _signed(value: int) -> bytes:
    return struct.pack(">Q", value + 2**63)


def _terminated(raw: bytes) -> bytes:
    return raw.replace(b"\x00", b"\x00\xff") + b"\x00" + _END


def _inverted(raw: bytes) -> bytes:
    return bytes(255 - byte for byte in raw)
