"""A network between a store and the emulator that fails on demand: it cuts answers off, or never brings them."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager
from enum import Enum, auto

BLOCK = 65_536
FRAME_HEADER = 9
ANSWERS = frozenset({0, 1})
"""The types of HTTP/2 frame (RFC 9113 §6) that are part of an answer: DATA and HEADERS."""


class Fault(Enum):
    NONE = auto()
    CUT_ANSWER = auto()
    """The request arrives; the connection breaks as its answer comes."""
    CUT_ONE_ANSWER = auto()
    """The same, once."""
    HANG = auto()
    """The request arrives; nothing comes back."""


class Network:
    """`address` leads to the emulator; `cuts` counts the answers that were cut off."""

    def __init__(self, emulator: str) -> None:
        self._host, _, port = emulator.rpartition(":")
        self._port = int(port)
        self.address = ""
        self.fault = Fault.NONE
        self.cuts = 0

    async def carry(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        there, back = await asyncio.open_connection(self._host, self._port)
        try:
            async with asyncio.TaskGroup() as carrying:
                carrying.create_task(self._requests(reader, back))
                carrying.create_task(self._answers(there, writer))
        except* (ConnectionError, asyncio.CancelledError):
            pass
        finally:
            writer.transport.abort()
            back.transport.abort()

    async def _requests(self, source: asyncio.StreamReader, sink: asyncio.StreamWriter) -> None:
        while block := await source.read(BLOCK):
            sink.write(block)
            await sink.drain()
        raise ConnectionResetError

    async def _answers(self, source: asyncio.StreamReader, sink: asyncio.StreamWriter) -> None:
        async for kind, frame in _frames(source):
            if self.fault is Fault.HANG:
                continue
            if kind in ANSWERS and self._cuts():
                break
            sink.write(frame)
            await sink.drain()
        raise ConnectionResetError

    def _cuts(self) -> bool:
        if self.fault not in (Fault.CUT_ANSWER, Fault.CUT_ONE_ANSWER):
            return False
        if self.fault is Fault.CUT_ONE_ANSWER:
            self.fault = Fault.NONE
        self.cuts += 1
        return True


async def _frames(source: asyncio.StreamReader) -> AsyncIterator[tuple[int, bytes]]:
    """Each frame with its type: 24 bits of length, 8 of type, 8 of flags, 32 of stream, and then its payload."""
    try:
        while True:
            header = await source.readexactly(FRAME_HEADER)
            yield header[3], header + await source.readexactly(int.from_bytes(header[:3], "big"))
    except asyncio.IncompleteReadError:
        return


@asynccontextmanager
async def network(emulator: str) -> AsyncGenerator[Network]:
    carrying = Network(emulator)
    server = await asyncio.start_server(carrying.carry, "127.0.0.1", 0)
    host, port = server.sockets[0].getsockname()
    carrying.address = f"{host}:{port}"
    try:
        yield carrying
    finally:
        server.close()
