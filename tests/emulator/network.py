"""A network between a store and the emulator that fails on demand: it is cut, hangs, or loses what comes back."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from enum import Enum, auto
from random import Random

from tests.emulator.frames import PREFACE, RST_STREAM, Frame, asks_for_a_commit, frames


class Fault(Enum):
    NONE = auto()
    CUT_ANSWER = auto()
    """The request arrives; the connection breaks as its answer comes."""
    CUT_ONE_ANSWER = auto()
    """The same, once."""
    HANG = auto()
    """The request arrives; nothing comes back."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Loss:
    """Of which share of the commits, and of the other calls, the answer is lost, and with it the connection."""

    commits: float
    others: float
    random: Random

    def takes(self, *, commit: bool) -> bool:
        return self.random.random() < (self.commits if commit else self.others)


@dataclass(slots=True, kw_only=True, eq=False)
class Connection:
    """`asked` are the calls that are not answered yet, by stream: whether each is a commit."""

    client: asyncio.StreamWriter
    server: asyncio.StreamWriter
    asked: dict[int, bool] = field(default_factory=dict[int, bool])

    @property
    def port(self) -> int:
        """The client's."""
        port: int = self.client.get_extra_info("peername")[1]
        return port

    def abort(self) -> None:
        self.client.transport.abort()
        self.server.transport.abort()


class Network:
    """`address` is what a store is told. Whoever comes is led to `target`; without one, turned away.

    `cuts` counts the answers that were cut off, `lost_commits` those of them that were a commit's.
    """

    def __init__(self, target: str) -> None:
        self.address = ""
        self.fault = Fault.NONE
        self.loss: Loss | None = None
        self.cuts = 0
        self.lost_commits = 0
        self.open: list[Connection] = []
        self._target: str | None = target
        self._flowing = asyncio.Event()
        self._flowing.set()

    def lead_to(self, target: str) -> None:
        """Whoever is connected has to connect again."""
        self.cut()
        self._target = target
        self._flowing.set()

    def cut(self) -> None:
        """The database is down."""
        self._target = None
        for connection in self.open:
            connection.abort()

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
        connection = Connection(client=writer, server=back)
        self.open.append(connection)
        try:
            async with asyncio.TaskGroup() as carrying:
                carrying.create_task(self._requests(reader, connection))
                carrying.create_task(self._answers(there, connection))
        except* (ConnectionError, asyncio.IncompleteReadError, asyncio.CancelledError):
            pass
        finally:
            self.open.remove(connection)
            connection.abort()

    async def _requests(self, source: asyncio.StreamReader, connection: Connection) -> None:
        connection.server.write(await source.readexactly(PREFACE))
        async for frame in frames(source):
            if frame.answers:
                commit = connection.asked.get(frame.stream, False)
                connection.asked[frame.stream] = commit or asks_for_a_commit(frame)
            elif frame.kind == RST_STREAM:
                connection.asked.pop(frame.stream, None)
            await self._pass_on(frame, connection.server)
        raise ConnectionResetError

    async def _answers(self, source: asyncio.StreamReader, connection: Connection) -> None:
        async for frame in frames(source):
            if self.fault is Fault.HANG:
                continue
            if frame.answers and self._cuts(commit=connection.asked.pop(frame.stream, None)):
                break
            await self._pass_on(frame, connection.client)
        raise ConnectionResetError

    async def _pass_on(self, frame: Frame, sink: asyncio.StreamWriter) -> None:
        await self._flowing.wait()
        sink.write(frame.raw)
        await sink.drain()

    def _cuts(self, *, commit: bool | None) -> bool:
        """Whether this part of an answer is lost; `commit` is None if it is not the first of its answer."""
        match self.fault:
            case Fault.CUT_ANSWER | Fault.CUT_ONE_ANSWER:
                lost = True
            case Fault.NONE | Fault.HANG:
                lost = commit is not None and self.loss is not None and self.loss.takes(commit=commit)
        if self.fault is Fault.CUT_ONE_ANSWER:
            self.fault = Fault.NONE
        self.cuts += lost
        self.lost_commits += lost and commit is True
        return lost


@asynccontextmanager
async def network(target: str) -> AsyncGenerator[Network]:
    carrying = Network(target)
    server = await asyncio.start_server(carrying.carry, "127.0.0.1", 0)
    host, port = server.sockets[0].getsockname()
    carrying.address = f"{host}:{port}"
    try:
        yield carrying
    finally:
        carrying.cut()
        server.close()
