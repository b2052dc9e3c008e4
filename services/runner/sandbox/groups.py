"""The process groups of one run's commands."""

import os
import signal
from collections.abc import Iterator
from contextlib import suppress
from datetime import timedelta
from pathlib import Path

from services.kernel.ports import Clock

_LOOK_EVERY = timedelta(milliseconds=20)


class Groups:
    """Groups that may still have members. One without is forgotten at the next look, for its number may come again."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._ids: frozenset[int] = frozenset()

    def add(self, group: int) -> None:
        self._ids |= {group}

    def look(self) -> bool:
        """Whether any group has a member that lives."""
        self._ids &= frozenset(_living_groups()) if self._ids else frozenset()
        return bool(self._ids)

    def signal(self, number: signal.Signals) -> None:
        """Send a signal to all members of all groups."""
        self.look()
        for group in self._ids:
            with suppress(ProcessLookupError):
                os.killpg(group, number)

    async def gone(self, *, within: timedelta) -> bool:
        """Whether no member of any group lives, at the latest after this time."""
        end = self._clock.elapsed() + within
        while self.look():
            if self._clock.elapsed() >= end:
                return False
            await self._clock.sleep(_LOOK_EVERY)
        return True


def _living_groups() -> Iterator[int]:
    """The group of each process that is not a zombie: an orphan may wait a while until init reaps it (proc(5))."""
    for entry in Path("/proc").iterdir():
        if not entry.name.isdecimal():
            continue
        with suppress(FileNotFoundError, ProcessLookupError):
            state, _, group = (entry / "stat").read_text(errors="replace").rpartition(")")[2].split()[:3]
            if state not in "ZX":
                yield int(group)
