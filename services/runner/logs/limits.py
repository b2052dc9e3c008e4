"""How much of a log is kept, and how fast it is sent."""

from dataclasses import dataclass
from datetime import timedelta

KIB = 1024
MARK = 128
"""Bytes set aside for the sentence that says what was left out."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LogLimits:
    """Sizes in bytes of UTF-8. A log of more than `head + tail` keeps its first `head` bytes and the last ones."""

    line: int = 64 * KIB
    chunk: int = 64 * KIB
    head: int = 7936 * KIB
    tail: int = 256 * KIB
    chunks: int = 16
    """Chunks in one call."""
    call: int = 2000 * KIB
    """Bytes of one call as JSON; a control character takes six."""
    every: timedelta = timedelta(seconds=1)
    """Time from the end of one call to the next, at least."""

    @property
    def fits_another(self) -> int:
        """How large a call may be for another chunk to fit, even one of control characters alone."""
        return self.call - 6 * self.chunk
