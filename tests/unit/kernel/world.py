"""A clock that moves when told, and ids that count."""

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

NOON = datetime(2026, 11, 30, 12, 0, tzinfo=UTC)


@dataclass(slots=True)
class MovableClock:
    """Stands at noon until moved."""

    passed: timedelta = timedelta()

    def now(self) -> datetime:
        return NOON + self.passed

    def elapsed(self) -> timedelta:
        return self.passed

    async def sleep(self, duration: timedelta) -> None:
        self.passed += duration

    def move(self, duration: timedelta) -> None:
        self.passed += duration


@dataclass(slots=True)
class CountingIds:
    """1, 2, 3, …"""

    last: int = 0

    def unique(self) -> int:
        self.last += 1
        return self.last

    def token(self) -> str:
        return f"token-{self.unique()}"

    def fraction(self) -> float:
        return 0.5
