"""What every process meets: lives that end or stand still, and a disturbance at every call of a port.

Every call is met twice by the disturbance of the day, before it takes effect and after. A process whose life ended
gets no further than its next call, which is how a killed process is seen from outside.
"""

import asyncio
from collections.abc import AsyncGenerator, Callable
from concurrent.futures import Executor, Future
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import PosixPath
from random import Random
from typing import ParamSpec, Protocol, TypeVar

P = ParamSpec("P")
T = TypeVar("T")


class Site(StrEnum):
    GET = "get"
    COMMIT = "commit"
    QUERY = "query"
    ENQUEUE = "enqueue"
    CALL = "call"
    """Of another service."""
    UPSTREAM = "upstream"
    """Of another system."""


class Side(StrEnum):
    BEFORE = "before"
    AFTER = "after"


@dataclass(frozen=True, slots=True, kw_only=True)
class Point:
    """One side of the call of this number, counted from 1."""

    number: int
    site: Site
    side: Side


@dataclass(slots=True)
class Life:
    """One process: it runs, is stopped (SIGSTOP) or has ended (SIGKILL)."""

    name: str = ""
    ended: bool = False
    running: asyncio.Event = field(default_factory=asyncio.Event)

    def __post_init__(self) -> None:
        self.running.set()

    def end(self) -> None:
        self.ended = True
        self.running.set()

    async def passes(self) -> None:
        """Wait while stopped; nothing comes back to a process that has ended."""
        await self.running.wait()
        if self.ended:
            raise asyncio.CancelledError


class Disturbance(Protocol):
    async def at(self, point: Point, life: Life) -> None:
        """Do nothing, fail like the port may fail on this side, stop or end the life, or let time pass."""
        ...


class Calm:
    """Nothing ever fails. Implements `Disturbance`."""

    async def at(self, point: Point, life: Life) -> None:
        return


@dataclass(slots=True)
class Weather:
    """The disturbance that all instances meet now, and how many calls they made."""

    now: Disturbance = field(default_factory=Calm)
    calls: int = 0

    @asynccontextmanager
    async def around(self, site: Site, life: Life) -> AsyncGenerator[None]:
        self.calls += 1
        number = self.calls
        await self._meet(Point(number=number, site=site, side=Side.BEFORE), life)
        yield
        await self._meet(Point(number=number, site=site, side=Side.AFTER), life)

    async def _meet(self, point: Point, life: Life) -> None:
        await life.passes()
        await self.now.at(point, life)
        await life.passes()


@dataclass(slots=True)
class SeededIds:
    """Implements `ports.Ids`; sorts by creation, repeats with its seed."""

    random: Random
    last: int = 0

    def unique(self) -> int:
        self.last += 1
        return self.last << 64 | self.random.getrandbits(64)

    def token(self) -> str:
        return f"{self.random.getrandbits(128):032x}"[:22]

    def fraction(self) -> float:
        return self.random.random()


class Inline(Executor):
    """Runs each job at once where it is submitted, so that one seed gives one order of everything."""

    def submit(self, fn: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> Future[T]:
        future: Future[T] = Future()
        try:
            future.set_result(fn(*args, **kwargs))
        except Exception as error:  # noqa: BLE001 (it is the job's caller's to know)
            future.set_exception(error)
        return future


class InMemory(PosixPath):
    """A path that SQLite takes for a database without a file; what lies beside it is a file like any other."""

    def __fspath__(self) -> str:
        return str(self) if self.name.endswith("-open") else ":memory:"
