"""The machine's own clocks and randomness."""

import asyncio
import random
import secrets
import time
from datetime import UTC, datetime, timedelta

import uuid_utils


class SystemClock:
    def now(self) -> datetime:
        return datetime.now(UTC)

    def elapsed(self) -> timedelta:
        # Goes on while the machine is suspended, so that no lease is believed longer than others believe it.
        return timedelta(microseconds=time.clock_gettime_ns(time.CLOCK_BOOTTIME) // 1000)

    async def sleep(self, duration: timedelta) -> None:
        await asyncio.sleep(duration.total_seconds())


class SystemIds:
    def unique(self) -> int:
        return uuid_utils.uuid7().int

    def token(self) -> str:
        return secrets.token_urlsafe(16)

    def fraction(self) -> float:
        return random.random()
