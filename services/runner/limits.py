"""How a run's limit is shared out: it counts from the claim and includes kill, report and teardown. Pure."""

from datetime import timedelta

_KILL_AND_REPORT = timedelta(seconds=15)


def commands_end(limit: timedelta, *, grace: timedelta) -> timedelta:
    """When, from the claim, commands are told to end, so that a stubborn one is gone and reported by the limit."""
    return limit - _reserve(limit, grace)


def grace_at_end(limit: timedelta, *, grace: timedelta) -> timedelta:
    """The grace that a run's limit leaves; a very short run has less than the full one."""
    return min(grace, _reserve(limit, grace) / 2) if _reserve(limit, grace) < grace + _KILL_AND_REPORT else grace


def _reserve(limit: timedelta, grace: timedelta) -> timedelta:
    return min(grace + _KILL_AND_REPORT, limit / 10)
