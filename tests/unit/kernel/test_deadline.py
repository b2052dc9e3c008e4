"""One deadline for all that a request causes."""

import asyncio
from collections.abc import Iterator
from datetime import timedelta

import pytest

from services.kernel import deadline
from services.kernel.errors import Ambiguous, Unavailable
from tests.unit.kernel.world import MovableClock

SECOND = timedelta(seconds=1)


@pytest.fixture(autouse=True)
def no_deadline() -> Iterator[None]:
    with deadline.scope(MovableClock(), None):
        yield


def test_without_a_deadline_a_step_may_take_what_it_asks_for() -> None:
    assert deadline.left(MovableClock(), at_most=2 * SECOND) == 2 * SECOND


def test_what_is_left_shrinks_as_time_passes_and_never_below_nothing() -> None:
    clock = MovableClock()
    with deadline.scope(clock, 4 * SECOND):
        assert deadline.left(clock, at_most=10 * SECOND) == 4 * SECOND
        clock.move(3 * SECOND)
        assert deadline.left(clock, at_most=10 * SECOND) == SECOND
        clock.move(3 * SECOND)
        assert deadline.left(clock, at_most=10 * SECOND) == timedelta()


def test_a_scope_ends_with_its_block() -> None:
    clock = MovableClock()
    with deadline.scope(clock, SECOND):
        with deadline.scope(clock, None):
            assert deadline.left(clock, at_most=9 * SECOND) == 9 * SECOND
        assert deadline.left(clock, at_most=9 * SECOND) == SECOND


@pytest.mark.anyio
async def test_a_step_that_takes_too_long_has_an_unknown_outcome() -> None:
    with pytest.raises(Ambiguous, match="no answer within 10 ms"):
        async with deadline.within(MovableClock(), at_most=SECOND / 100):
            await asyncio.Event().wait()


@pytest.mark.anyio
async def test_a_step_does_not_begin_after_the_deadline() -> None:
    clock, begun = MovableClock(), False
    with deadline.scope(clock, SECOND):
        clock.move(SECOND)
        with pytest.raises(Unavailable):
            async with deadline.within(clock, at_most=SECOND):
                begun = True
    assert not begun


@pytest.mark.anyio
async def test_a_step_in_time_is_left_alone() -> None:
    async with deadline.within(MovableClock(), at_most=SECOND) as duration:
        assert duration == SECOND


def test_a_deadline_travels_in_whole_milliseconds() -> None:
    assert deadline.header(timedelta(milliseconds=1500.9)) == "1500"
    assert deadline.parse("1500") == timedelta(milliseconds=1500)


@pytest.mark.parametrize("value", [None, "", "-1", "1.5", "1e3", "٣", "9" * 9, "1 "])
def test_what_is_no_number_of_milliseconds_is_no_deadline(value: str | None) -> None:
    assert deadline.parse(value) is None
