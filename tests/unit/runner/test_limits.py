"""A run's limit includes its own end."""

from datetime import timedelta

import pytest

from services.runner.limits import commands_end, grace_at_end

S = timedelta(seconds=1)


@pytest.mark.parametrize(
    ("limit", "end", "grace"),
    [
        (900 * S, 855 * S, 30 * S),
        (1740 * S, 1695 * S, 30 * S),
        (60 * S, 54 * S, 3 * S),
        (1 * S, 0.9 * S, 0.05 * S),
    ],
)
def test_commands_end_early_enough_to_be_killed_reported_and_removed(
    limit: timedelta, end: timedelta, grace: timedelta
) -> None:
    assert commands_end(limit, grace=30 * S) == end
    assert grace_at_end(limit, grace=30 * S) == grace
