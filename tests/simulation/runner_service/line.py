"""The calls that a runner makes of the world outside it, each met twice: before it takes effect and after."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, Protocol

from tests.simulation.ports import Side

if TYPE_CHECKING:
    from tests.simulation.runner_service.process import RunnerProcess


class Port(StrEnum):
    CALL = "call"
    """A message to the coordinator."""
    LAUNCH = "git"
    SANDBOX = "sandbox"


@dataclass(frozen=True, slots=True, kw_only=True)
class Moment:
    """One side of the call of this number, counted from 1; `run` is the one that the process was handed."""

    number: int
    port: Port
    name: str
    side: Side
    run: str

    def __str__(self) -> str:
        return f"{self.side} {self.port} {self.number} ({self.name})"


class Mishap(Protocol):
    async def at(self, moment: Moment, process: "RunnerProcess") -> None:
        """Do nothing, or to this process whatever may happen to one here."""
        ...


class Nothing:
    """Nothing happens. Implements `Mishap`."""

    async def at(self, moment: Moment, process: "RunnerProcess") -> None:
        return


@dataclass(slots=True)
class Line:
    """What happens to all runners now, and every moment so far."""

    now: Mishap = field(default_factory=Nothing)
    moments: list[Moment] = field(default_factory=list[Moment])
    calls: int = 0

    @asynccontextmanager
    async def around(self, port: Port, name: str, process: "RunnerProcess") -> AsyncGenerator[None]:
        self.calls += 1
        number = self.calls
        await self._meet(Moment(number=number, port=port, name=name, side=Side.BEFORE, run=process.run), process)
        yield
        await self._meet(Moment(number=number, port=port, name=name, side=Side.AFTER, run=process.run), process)

    async def _meet(self, moment: Moment, process: "RunnerProcess") -> None:
        await process.life.passes()
        self.moments.append(moment)
        await self.now.at(moment, process)
        await process.life.passes()
