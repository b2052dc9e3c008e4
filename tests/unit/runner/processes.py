"""What the kernel says of a process."""

import asyncio
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

from services.kernel.adapters.clock import SystemClock

_LOOK_EVERY = timedelta(milliseconds=10)


def is_alive(pid: int) -> bool:
    """Whether the process still runs; one that has ended but is not reaped does not."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return False
    return stat.rpartition(")")[2].split()[0] != "Z"


async def until(holds: Callable[[], bool]) -> None:
    """Wait for something that the kernel tells nobody about."""
    async with asyncio.timeout(20):
        while not holds():
            await SystemClock().sleep(_LOOK_EVERY)
