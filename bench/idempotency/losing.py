"""A line to DynamoDB that loses the answer to a write which was applied."""

import asyncio
import re
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

_LENGTH = re.compile(rb"content-length: (\d+)", re.IGNORECASE)
_WRITES = {"create": b"DynamoDB_20120810.PutItem", "complete": b"DynamoDB_20120810.UpdateItem"}


@dataclass(slots=True)
class Line:
    """`loses`: the write whose next answer does not come through.

    One request at a time reaches the table: DynamoDB's conditional writes are atomic, and what plays it here is not.
    """

    target: int
    url: str = ""
    loses: str = ""
    turn: asyncio.Lock = field(default_factory=asyncio.Lock)

    async def carry(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while True:
                asked = await _message(reader)
                answer = await self._ask(asked)
                if self.loses and _WRITES[self.loses] in asked:
                    self.loses = ""
                    writer.transport.abort()
                    return
                writer.write(answer)
                await writer.drain()
        except (asyncio.IncompleteReadError, ConnectionError):
            writer.close()

    async def _ask(self, asked: bytes) -> bytes:
        async with self.turn:
            reader, writer = await asyncio.open_connection("127.0.0.1", self.target)
            writer.write(asked)
            answer = await _message(reader)
            writer.close()
            return answer


async def _message(reader: asyncio.StreamReader) -> bytes:
    """One request or response, whole."""
    head = await reader.readuntil(b"\r\n\r\n")
    length = _LENGTH.search(head)
    return head + await reader.readexactly(int(length[1]) if length else 0)


@asynccontextmanager
async def line(target: int) -> AsyncGenerator[Line]:
    carrying = Line(target)
    server = await asyncio.start_server(carrying.carry, "127.0.0.1", 0)
    async with server:
        carrying.url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
        yield carrying
