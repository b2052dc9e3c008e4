"""HTTP/2 as far as a network has to understand it to lose a certain answer.

Pure but for the reading.
"""

import asyncio
import re
from collections.abc import AsyncIterator
from dataclasses import dataclass, field

PREFACE = len(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n")
HEADER = 9
DATA, HEADERS, RST_STREAM = 0, 1, 3

_GRPC_PREFIX = 5
# Field 1 is a database, and not the documents in it that a query names; field 2 is a write, and not a document's name.
_COMMIT = re.compile(rb"\n.projects/[^/]+/databases/[^/]+\x12[\x80-\xff]*.[\n\x12]", re.DOTALL)


@dataclass(frozen=True, slots=True, kw_only=True)
class Frame:
    """RFC 9113 §4.1; `raw` is all of it."""

    kind: int
    stream: int
    raw: bytes = field(repr=False)

    @property
    def payload(self) -> bytes:
        return self.raw[HEADER:]

    @property
    def answers(self) -> bool:
        """Whether it is a part of an answer, when it comes from a server."""
        return self.kind in (DATA, HEADERS)


async def frames(source: asyncio.StreamReader) -> AsyncIterator[Frame]:
    """24 bits of length, 8 of type, 8 of flags, 32 of stream, and then the payload."""
    try:
        while True:
            header = await source.readexactly(HEADER)
            payload = await source.readexactly(int.from_bytes(header[:3], "big"))
            stream = int.from_bytes(header[5:], "big") & 0x7FFFFFFF
            yield Frame(kind=header[3], stream=stream, raw=header + payload)
    except asyncio.IncompleteReadError:
        return


def asks_for_a_commit(frame: Frame) -> bool:
    """Whether a client's frame is the beginning of a `google.firestore.v1.CommitRequest`."""
    return frame.kind == DATA and _COMMIT.match(frame.payload, _GRPC_PREFIX) is not None
