"""How long an attempt may go on unheard."""

from collections.abc import Callable
from datetime import timedelta


class Lease:
    """Counts from the *sending* of the last accepted claim, start or heartbeat: the coordinator can only have noted it
    later, so that this runner's commands are dead before anybody takes over. Times are `Clock.elapsed()`.
    """

    def __init__(self, duration: timedelta, *, sent_at: timedelta) -> None:
        self._duration = duration
        self._sent_at = sent_at
        self._follower: Callable[[timedelta], None] | None = None

    @property
    def until(self) -> timedelta:
        return self._sent_at + self._duration

    def renew(self, *, sent_at: timedelta) -> None:
        """A message sent at this time was accepted."""
        self._sent_at = max(self._sent_at, sent_at)
        if self._follower is not None:
            self._follower(self.until)

    def follow(self, follower: Callable[[timedelta], None]) -> None:
        """Tell `follower` until when the lease is, now and whenever it changes."""
        self._follower = follower
        follower(self.until)

    def left(self, now: timedelta) -> timedelta:
        """What is left; never less than nothing."""
        return max(self.until - now, timedelta())
