"""The log of one run, from a pipe to the coordinator.

`write` and `say` never wait and never fail, so that the pipe is always drained. A failed call is repeated with the same
chunks; what has not got through when the run's end cannot wait any longer is `lost`.
"""

import asyncio
from collections.abc import Awaitable, Callable

from services.kernel.errors import AnvilError, OwnershipLost, Permanent
from services.kernel.log import get_logger
from services.kernel.ports import Clock
from services.kernel.wire.runs import LogChunk
from services.runner.logs.chunks import Chunks
from services.runner.logs.limits import LogLimits
from services.runner.logs.lines import Lines

log = get_logger(__name__)

Append = Callable[[tuple[LogChunk, ...]], Awaitable[None]]


class RunLog:
    """Collects what a run writes; `upload` sends it, as one task beside the run."""

    def __init__(self, append: Append, *, limits: LogLimits, clock: Clock) -> None:
        self._append = append
        self._limits = limits
        self._clock = clock
        self._lines = Lines(limits.line)
        self._chunks = Chunks(limits)
        self._changed = asyncio.Event()
        self._sent = asyncio.Event()
        self._closed = False
        self._in_flight = 0
        self._refused = 0

    def write(self, block: bytes) -> None:
        """Take what commands wrote."""
        self._add(self._lines.feed(block))

    def say(self, line: str) -> None:
        """Add a line of the runner's own, on a line of its own."""
        self._add(self._lines.end_line() + f"── {line}\n")

    async def upload(self) -> None:
        """Send what comes, at most one call at a time, until the log is finished or the run is another's.

        Raises:
            OwnershipLost: this attempt's log is not wanted any more.
        """
        while True:
            await self._changed.wait()
            if batch := self._chunks.take():
                await self._deliver(batch)
            if self._closed and not self._chunks:
                self._sent.set()
                return
            if batch:
                await self._clock.sleep(self._limits.every)
            else:
                self._changed.clear()

    @property
    def lost(self) -> int:
        """Bytes that were refused, and those that have not got through yet."""
        return self._refused + self._in_flight + len(self._chunks)

    async def finish(self) -> None:
        """End the log and wait until it is sent, which may be never."""
        self._add(self._lines.end_line())
        self._chunks.close()
        self._closed = True
        self._changed.set()
        await self._sent.wait()

    def _add(self, text: str) -> None:
        if text and not self._closed:
            self._chunks.add(text)
            self._changed.set()

    async def _deliver(self, batch: tuple[LogChunk, ...]) -> None:
        self._in_flight = sum(len(chunk.text.encode()) for chunk in batch)
        while not await self._delivered(batch):
            await self._clock.sleep(self._limits.every)
        self._in_flight = 0

    async def _delivered(self, batch: tuple[LogChunk, ...]) -> bool:
        """Whether nothing more is to be done about the batch."""
        try:
            await self._append(batch)
        except OwnershipLost:
            raise
        except Permanent as error:
            log.warning("a part of the log was refused", code=error.code, detail=error.detail)
            self._refused += self._in_flight
        except AnvilError as error:
            log.info("a part of the log is sent again", code=error.code)
            return False
        return True
