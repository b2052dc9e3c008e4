"""The clock's and the ids' contract, on the machine's own."""

import re
from datetime import timedelta

import pytest

from services.kernel.adapters.clock import SystemClock, SystemIds


@pytest.mark.anyio
async def test_a_sleep_lasts_at_least_as_long_as_asked() -> None:
    clock = SystemClock()
    began = clock.elapsed()
    await clock.sleep(timedelta(milliseconds=20))

    assert clock.elapsed() - began >= timedelta(milliseconds=20)


def test_the_wall_clock_is_aware_and_in_utc() -> None:
    assert SystemClock().now().utcoffset() == timedelta(0)


def test_unique_numbers_have_128_bits_and_sort_by_the_time_they_were_made() -> None:
    numbers = [SystemIds().unique() for _ in range(1000)]

    assert numbers == sorted(set(numbers))
    assert {number.bit_length() for number in numbers} <= set(range(110, 129))
    assert {number >> 76 & 0xF for number in numbers} == {7}


def test_tokens_are_22_url_safe_characters_and_never_the_same() -> None:
    tokens = {SystemIds().token() for _ in range(1000)}

    assert len(tokens) == 1000
    assert all(re.fullmatch(r"[A-Za-z0-9_-]{22}", token) for token in tokens)


def test_fractions_are_from_nought_up_to_and_not_including_one() -> None:
    assert all(0 <= SystemIds().fraction() < 1 for _ in range(1000))
