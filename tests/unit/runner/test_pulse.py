"""How often an attempt gives a sign of life."""

from datetime import timedelta

import pytest

from services.runner.pulse import pause

S = timedelta(seconds=1)


@pytest.mark.parametrize(("age", "seconds"), [(0, 2), (20, 2), (50, 5), (100, 10), (800, 10)])
def test_a_young_run_hears_of_a_cancel_within_two_seconds(age: int, seconds: int) -> None:
    assert pause(age=age * S, left=30 * S, every=10 * S) == seconds * S


@pytest.mark.parametrize(("left", "seconds"), [(30, 10), (15, 5), (6, 2), (3, 1), (0, 1)])
def test_heartbeats_come_sooner_the_less_is_left_of_the_lease(left: int, seconds: int) -> None:
    assert pause(age=800 * S, left=left * S, every=10 * S) == seconds * S


def test_heartbeats_are_never_further_apart_than_the_setting_says() -> None:
    assert pause(age=0 * S, left=30 * S, every=S) == S
