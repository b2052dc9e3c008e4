"""Clocks that tests move."""

import asyncio
from datetime import UTC, datetime, timedelta

START = datetime(2026, 11, 30, 9, 30, tzinfo=UTC)


class SwiftClock:
    """Time passes only in sleep, and at once, or when told."""

    def __init__(self) -> None:
        self._elapsed = timedelta()

    def now(self) -> datetime:
        return START + self._elapsed

    def elapsed(self) -> timedelta:
        return self._elapsed

    def pass_by(self, duration: timedelta) -> None:
        """Let time pass."""
        self._elapsed += duration

    async def sleep(self, duration: timedelta) -> None:
        self.pass_by(duration)
        await asyncio.sleep(0)
