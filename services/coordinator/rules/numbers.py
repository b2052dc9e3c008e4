"""The numbers that the rules go by; all of them settings."""

from dataclasses import dataclass
from datetime import timedelta


def _seconds(*values: int) -> tuple[timedelta, ...]:
    return tuple(timedelta(seconds=value) for value in values)


@dataclass(frozen=True, slots=True, kw_only=True)
class Numbers:
    """`stale` must exceed a runner's lease, so that its commands are dead before a takeover."""

    queue_cap: int = 20
    stale: timedelta = timedelta(seconds=45)
    unclaimed: timedelta = timedelta(minutes=5)
    enqueue_again: timedelta = timedelta(seconds=5)
    dispatch_retries: tuple[timedelta, ...] = _seconds(5, 15, 30, 60, 120)
    index_retries: tuple[timedelta, ...] = _seconds(5, 15, 30, 60, 300)
    dedupe: timedelta = timedelta(hours=72)
    keep_runs: timedelta = timedelta(days=30)
    keep_index: timedelta = timedelta(days=400)
