"""Clocks that tests move."""

import asyncio
from datetime import UTC, datetime, timedelta

START = datetime(2026, 11, 30, 9, 30, tzinfo=UTC)


class SwiftClock:
    """Time passes only in sleep, and at once."""

    def __init__(self) -> None:
        self._elapsed = timedelta()

    def now(self) -> datetime:
        return START + self._elapsed

    def elapsed(self) -> timedelta:
        return self._elapsed

    async def sleep(self, duration: timedelta) -> None:
        self._elapsed += duration
        await asyncio.sleep(0)
