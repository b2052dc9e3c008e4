"""The line between a stack and its database: it can be cut, held, and led to another place."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

BLOCK = 65_536


class Line:
    """`address` is what the stack is told. Whoever comes is led to `target`; without one, turned away."""

    def __init__(self, target: str) -> None:
        self.address = ""
        self._target: str | None = target
        self._flowing = asyncio.Event()
        self._flowing.set()
        self._open: set[asyncio.StreamWriter] = set()

    def lead_to(self, target: str) -> None:
        """Whoever is connected has to connect again."""
        self.cut()
        self._target = target
        self._flowing.set()

    def cut(self) -> None:
        """The database is down."""
        self._target = None
        for writer in self._open:
            writer.transport.abort()

    def hold(self) -> None:
        """The database hangs: connections stand, and nothing comes through until it is let go."""
        self._flowing.clear()

    def let_go(self) -> None:
        self._flowing.set()

    async def carry(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if self._target is None:
            writer.transport.abort()
            return
        host, _, port = self._target.rpartition(":")
        there, back = await asyncio.open_connection(host, int(port))
        both = {writer, back}
        self._open |= both
        try:
            async with asyncio.TaskGroup() as carrying:
                carrying.create_task(self._pass_on(reader, back))
                carrying.create_task(self._pass_on(there, writer))
        except* (ConnectionError, asyncio.CancelledError):
            pass
        finally:
            self._open -= both
            for each in both:
                each.transport.abort()

    async def _pass_on(self, source: asyncio.StreamReader, sink: asyncio.StreamWriter) -> None:
        while block := await source.read(BLOCK):
            await self._flowing.wait()
            sink.write(block)
            await sink.drain()
        raise ConnectionResetError


@asynccontextmanager
async def line(target: str) -> AsyncGenerator[Line]:
    carrying = Line(target)
    server = await asyncio.start_server(carrying.carry, "127.0.0.1", 0)
    host, port = server.sockets[0].getsockname()
    carrying.address = f"{host}:{port}"
    try:
        yield carrying
    finally:
        carrying.cut()
        server.close()
