"""What happens to a runner at one moment: each once, at the first process that comes there."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import timedelta

from services.kernel.errors import Ambiguous, AnvilError, Unavailable
from tests.simulation.ports import Side
from tests.simulation.runner_service.line import Mishap, Moment, Port
from tests.simulation.runner_service.process import RunnerProcess
from tests.simulation.runner_service.stage import Stage
from tests.simulation.runner_service.time import apart

Place = tuple[int, Side]
Happens = Callable[[RunnerProcess], Awaitable[None]]

_SECOND = timedelta(seconds=1)
_LAST_WORDS = timedelta(seconds=8)
"""What the platform leaves a process between SIGTERM and SIGKILL."""


@dataclass(slots=True)
class Once:
    """Implements `Mishap`; what is about a message happens to one alone."""

    place: Place
    happens: Happens
    port: Port | None = None
    happened: bool = False

    async def at(self, moment: Moment, process: RunnerProcess) -> None:
        here = (moment.number, moment.side) == self.place and self.port in (None, moment.port)
        if here and not self.happened:
            self.happened = True
            await self.happens(process)


@dataclass(slots=True)
class All:
    """Implements `Mishap`."""

    mishaps: tuple[Mishap, ...]

    async def at(self, moment: Moment, process: RunnerProcess) -> None:
        for each in self.mishaps:
            await each.at(moment, process)


@dataclass(slots=True)
class CutOff:
    """From this moment on, for a while, the coordinator is not reached, or is and its answers are not heard."""

    stage: Stage
    place: Place
    duration: timedelta
    until: timedelta | None = None

    async def at(self, moment: Moment, process: RunnerProcess) -> None:
        now = self.stage.clock.elapsed()
        if (moment.number, moment.side) == self.place and self.until is None:
            self.until = now + self.duration
        if self.until is not None and now < self.until and moment.port is Port.CALL:
            raise Unavailable if moment.side is Side.BEFORE else Ambiguous


async def killed(process: RunnerProcess) -> None:
    process.die()


def stopped(stage: Stage, *, duration: timedelta) -> Happens:
    """SIGSTOP, and SIGCONT after this time."""

    async def happens(process: RunnerProcess) -> None:
        process.life.running.clear()
        _ = apart(_goes_on(stage, process, after=duration))

    return happens


async def terminated(process: RunnerProcess) -> None:
    """SIGTERM, and SIGKILL if it does not go."""
    process.leave()
    _ = apart(_killed_later(process))


async def not_reached(process: RunnerProcess) -> None:
    raise Unavailable


async def not_heard(process: RunnerProcess) -> None:
    raise Ambiguous


def slow(stage: Stage, *, duration: timedelta) -> Happens:
    """It takes this long, on this side of what it does."""

    async def happens(process: RunnerProcess) -> None:
        await stage.clock.sleep(duration)

    return happens


def canceled(stage: Stage) -> Happens:
    """A person cancels the run, and insists on an answer."""

    async def happens(process: RunnerProcess) -> None:
        await apart(_canceled(stage))

    return happens


async def _canceled(stage: Stage) -> None:
    while not stage.cancel_answered:
        try:
            stage.cancel_answered = await stage.world.calls().cancel(stage.world.pushed)
        except AnvilError:
            await stage.clock.sleep(_SECOND)


async def _goes_on(stage: Stage, process: RunnerProcess, *, after: timedelta) -> None:
    await stage.clock.sleep(after)
    process.life.running.set()


async def _killed_later(process: RunnerProcess) -> None:
    await process.stage.clock.sleep(_LAST_WORDS)
    if not process.over:
        process.die()
