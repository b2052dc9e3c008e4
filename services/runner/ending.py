"""Why a run's commands must end before they are done, and who is told."""

import asyncio
from collections.abc import Coroutine
from dataclasses import dataclass
from enum import StrEnum
from typing import TypeVar

Answer = TypeVar("Answer")


class Cause(StrEnum):
    """From the most patient to the most urgent."""

    CANCELED = "canceled"
    TIMED_OUT = "timed_out"
    TERMINATED = "terminated"
    """This runner process is being shut down."""
    LOST = "lost"
    """The run is not this attempt's any more, or may not be: its lease ran out."""

    @property
    def urgency(self) -> int:
        return list(Cause).index(self)


@dataclass(frozen=True, slots=True)
class Demand:
    """That a run end, and a sentence for people on why."""

    cause: Cause
    detail: str | None = None


class Ended(Exception):
    """The run has to end; see the `Ending`."""


class Ending:
    """Whether a run must end early. A demand yields only to a more urgent one."""

    def __init__(self) -> None:
        self._demand: Demand | None = None
        self._risen = asyncio.Event()

    @property
    def demand(self) -> Demand | None:
        return self._demand

    def require(self, cause: Cause, detail: str | None = None) -> None:
        """Demand the end."""
        if self._demand is None or cause.urgency > self._demand.cause.urgency:
            self._demand = Demand(cause, detail)
            self._risen.set()
            self._risen = asyncio.Event()

    def check(self) -> None:
        """
        Raises:
            Ended: the end is demanded.
        """
        if self._demand is not None:
            raise Ended

    async def beyond(self, known: Demand | None) -> Demand:
        """Wait for a demand more urgent than `known`, or for any if there is none."""
        while self._demand is None or self._demand is known:
            await self._risen.wait()
        return self._demand

    async def as_urgent_as(self, cause: Cause) -> None:
        """Wait for a demand of at least this urgency."""
        demand = self._demand
        while demand is None or demand.cause.urgency < cause.urgency:
            demand = await self.beyond(demand)

    async def unless(self, work: Coroutine[None, None, Answer]) -> Answer:
        """The outcome of `work`, which is given up as soon as the end is demanded.

        Raises:
            Ended: it was.
        """
        if self._demand is not None:
            work.close()
            raise Ended
        working, demanded = asyncio.create_task(work), asyncio.create_task(self.beyond(None))
        try:
            await asyncio.wait({working, demanded}, return_when=asyncio.FIRST_COMPLETED)
            if working.done():
                return working.result()
            raise Ended
        finally:
            working.cancel()
            demanded.cancel()
            await asyncio.gather(working, demanded, return_exceptions=True)
