"""The moment by which an answer must be there; what is left of it travels with each hop.

Kept in a context variable against `Clock.elapsed()`, so that a jump of the wall clock moves no deadline.
"""

import asyncio
import re
from collections.abc import AsyncGenerator, Generator
from contextlib import asynccontextmanager, contextmanager
from contextvars import ContextVar
from datetime import timedelta

from services.kernel.errors import Ambiguous, Unavailable
from services.kernel.ports import Clock

HEADER = "X-Anvil-Deadline-Ms"

_MILLISECOND = timedelta(milliseconds=1)
_ends: ContextVar[timedelta | None] = ContextVar("deadline", default=None)


@contextmanager
def scope(clock: Clock, duration: timedelta | None) -> Generator[None]:
    """A deadline for the block alone; None: none, also where there was one outside."""
    token = _ends.set(None if duration is None else clock.elapsed() + duration)
    try:
        yield
    finally:
        _ends.reset(token)


def left(clock: Clock, *, at_most: timedelta) -> timedelta:
    """What is left, never less than nothing; `at_most` if there is no deadline."""
    ends = _ends.get()
    if ends is None:
        return at_most
    return max(timedelta(), min(ends - clock.elapsed(), at_most))


@asynccontextmanager
async def within(clock: Clock, *, at_most: timedelta) -> AsyncGenerator[timedelta]:
    """Interrupt the block when the deadline, or `at_most` from now, has come.

    Raises:
        Unavailable: nothing was left to begin with; the block did not run.
        Ambiguous: the block was interrupted.
    """
    duration = left(clock, at_most=at_most)
    if not duration:
        raise Unavailable("the deadline has passed")
    try:
        async with asyncio.timeout(duration.total_seconds()):
            yield duration
    except TimeoutError as error:
        raise Ambiguous(f"no answer within {duration / _MILLISECOND:.0f} ms") from error


def header(duration: timedelta) -> str:
    """`duration` as the header's value: whole milliseconds."""
    return str(duration // _MILLISECOND)


def parse(value: str | None) -> timedelta | None:
    """The header's value as a duration; None if there is none, or none that is one."""
    if value is None or not re.fullmatch(r"[0-9]{1,8}", value):
        return None
    return int(value) * _MILLISECOND
