"""A log of bounded size, as numbered chunks. Pure."""

import hashlib

import orjson

from services.kernel.wire.runs import LogChunk
from services.runner.logs.limits import MARK, LogLimits


class Chunks:
    """Takes text, gives chunks. Past the head only the newest text is kept, and the gap is marked with its size."""

    def __init__(self, limits: LogLimits) -> None:
        self._limits = limits
        self._room = limits.head
        self._waiting = bytearray()
        self._tail = bytearray()
        self._left_out = 0
        self._seq = 0
        self._line = 1
        self._offset = 0

    def add(self, text: str) -> None:
        """Put text at the end."""
        raw = text.encode()
        # Once the tail has begun nothing goes to the head, for the order must stay.
        cut = _border(raw, 0 if self._tail else min(self._room, len(raw)))
        self._waiting += raw[:cut]
        self._room -= cut
        self._tail += raw[cut:]
        excess = len(self._tail) - (self._limits.tail - MARK)
        if excess > 0:
            del self._tail[:excess]
            self._left_out += excess

    def close(self) -> None:
        """Let the tail follow. Nothing is added after this."""
        tail = bytes(self._tail)
        if self._left_out:
            begin = _line_start(tail)
            tail = f"\n── {self._left_out + begin} bytes are left out here\n".encode() + tail[begin:]
        self._waiting += tail
        self._tail.clear()

    def take(self) -> tuple[LogChunk, ...]:
        """The next chunks, as many as one call may have; none if nothing waits."""
        taken: list[LogChunk] = []
        size = 0
        while self._waiting and len(taken) < self._limits.chunks and size <= self._limits.fits_another:
            taken.append(self._next())
            size += len(orjson.dumps(taken[-1].text))
        return tuple(taken)

    def __len__(self) -> int:
        """Bytes that wait to be taken."""
        return len(self._waiting)

    def _next(self) -> LogChunk:
        raw = bytes(self._waiting[: self._limits.chunk])
        raw = raw if len(raw) == len(self._waiting) else raw[: _border(self._waiting, len(raw))]
        del self._waiting[: len(raw)]
        chunk = LogChunk(
            seq=self._seq,
            first_line=self._line,
            offset=self._offset,
            text=raw.decode(),
            sha256=hashlib.sha256(raw).hexdigest(),
        )
        self._seq += 1
        self._line += raw.count(b"\n")
        self._offset += len(raw)
        return chunk


def _border(raw: bytes | bytearray, at_most: int) -> int:
    """The last place up to `at_most` at which a character begins."""
    while 0 < at_most < len(raw) and raw[at_most] & 0xC0 == 0x80:
        at_most -= 1
    return at_most


def _line_start(raw: bytes) -> int:
    """Where the first whole line begins; where the first whole character does, if there is no line."""
    if (newline := raw.find(b"\n")) >= 0 and newline + 1 < len(raw):
        return newline + 1
    return next((index for index, byte in enumerate(raw[:4]) if byte & 0xC0 != 0x80), 0)
