"""Starts the processes of a local stack, keeps them running, and stops them."""

import asyncio
import contextlib
import signal
from collections import deque
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from datetime import timedelta
from pathlib import Path

import httpx2

from services.local.process import Process
from services.local.program import Program

READY_WITHIN = timedelta(seconds=30)
STOP_GRACE = timedelta(seconds=12)  # gunicorn's own graceful timeout is 8.
STEADY = timedelta(seconds=10)
PAUSES = (timedelta(0), timedelta(seconds=1), timedelta(seconds=2), timedelta(seconds=5))

_POLL = timedelta(milliseconds=50)
_SHOWN_LINES = 8
_SHOWN_WIDTH = 400

Report = Callable[[str], None]


class StartFailed(Exception):
    """A process did not come to serve."""


class Keeper:
    """Keeps one program running: whatever ends it but `stop`, it is reported and started again."""

    def __init__(self, program: Program, *, report: Report) -> None:
        self._program = program
        self._report = report
        self._process: Process | None = None

    @property
    def pid(self) -> int:
        """The process (gunicorn's master) that runs now."""
        if self._process is None:
            raise StartFailed(f"{self._program.name} was never started")
        return self._process.pid

    async def start(self) -> None:
        """Start it and wait until it serves.

        Raises:
            StartFailed: it ended, or was not ready in time; nothing of it is left.
        """
        self._process = process = Process.start(self._program)
        try:
            async with asyncio.timeout(READY_WITHIN.total_seconds()):
                await self._until_ready(process)
        except TimeoutError as error:
            process.kill()
            raise self._failed(f"was not ready within {READY_WITHIN.total_seconds():.0f} s") from error

    async def keep(self) -> None:
        """For ever: when the process has ended, start another one, ever later if it does not last."""
        loop = asyncio.get_running_loop()
        tries = 0
        while self._process is not None:
            began = loop.time()
            how = _how(await self._process.ended())
            tries = 0 if loop.time() - began > STEADY.total_seconds() else min(tries + 1, len(PAUSES) - 1)
            self._report(f"{self._program.name} {how}; starting it again ({self._program.log})")
            await asyncio.sleep(PAUSES[tries].total_seconds())
            try:
                await self.start()
            except StartFailed as error:
                self._report(str(error))
            else:
                self._report(f"{self._program.name} is back")

    async def stop(self, *, grace: timedelta) -> None:
        if self._process is not None:
            await self._process.stop(grace=grace)

    async def _until_ready(self, process: Process) -> None:
        ending = asyncio.ensure_future(process.ended())
        try:
            async with httpx2.AsyncClient(timeout=5, trust_env=False) as http:
                while not await _is_ready(http, self._program):
                    await asyncio.wait([ending], timeout=_POLL.total_seconds())
                    if ending.done():
                        raise self._failed(_how(ending.result()))
        finally:
            ending.cancel()

    def _failed(self, how: str) -> StartFailed:
        return StartFailed(f"{self._program.name} {how} before it served:\n{_tail(self._program.log)}")


@asynccontextmanager
async def supervised(
    programs: Sequence[Program], *, report: Report, grace: timedelta = STOP_GRACE
) -> AsyncGenerator[Mapping[str, Keeper]]:
    """All programs by name, serving; kept running until the end of the block, then stopped in reverse order.

    A program that has not ended `grace` after its SIGTERM is killed.

    Raises:
        StartFailed: one did not come to serve; all are stopped.
    """
    keepers = {program.name: Keeper(program, report=report) for program in programs}
    keeping: list[asyncio.Task[None]] = []
    try:
        await _all_started(list(keepers.values()))
        keeping = [asyncio.create_task(keeper.keep()) for keeper in keepers.values()]
        yield keepers
    finally:
        for task in keeping:
            task.cancel()
        await asyncio.gather(*keeping, return_exceptions=True)
        for keeper in reversed(keepers.values()):
            await keeper.stop(grace=grace)


async def _all_started(keepers: Sequence[Keeper]) -> None:
    """All at once, for readiness of one may ask for another; the first failure ends the rest."""
    try:
        async with asyncio.TaskGroup() as starting:
            for keeper in keepers:
                starting.create_task(keeper.start())
    except ExceptionGroup as failures:
        raise failures.exceptions[0] from failures


async def _is_ready(http: httpx2.AsyncClient, program: Program) -> bool:
    with contextlib.suppress(httpx2.HTTPError):
        return (await http.get(program.ready_url)).status_code == program.ready_status
    return False


def _how(code: int) -> str:
    return f"was ended by {signal.Signals(-code).name}" if code < 0 else f"ended with exit code {code}"


def _tail(log: Path) -> str:
    with log.open(errors="replace") as lines:
        return "".join(f"    {line.rstrip()[:_SHOWN_WIDTH]}\n" for line in deque(lines, _SHOWN_LINES))
