"""How many bad signatures one instance looks into; what is beyond that is told to come later (R48)."""

from datetime import timedelta

from services.kernel.ports import Clock


class Throttle:
    """A token bucket: `burst` at once, and one more each `every`."""

    def __init__(self, clock: Clock, *, every: timedelta, burst: int) -> None:
        self._clock = clock
        self._every = every
        self._burst = burst
        self._tokens = float(burst)
        self._filled_at = clock.elapsed()

    def allows(self) -> bool:
        """Take a token; False if there is none."""
        now = self._clock.elapsed()
        self._tokens = min(self._burst, self._tokens + (now - self._filled_at) / self._every)
        self._filled_at = now
        if self._tokens < 1:
            return False
        self._tokens -= 1
        return True
