"""The search for an order: it finds one exactly if there is one, and says so of known histories."""

from collections.abc import Iterator, Sequence
from itertools import chain, combinations, permutations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.history.operations import Operation, Outcome
from tests.history.register import Specification, TooWide, linearisable, violations

Op = Operation[int, int]
"""On a register of small numbers: `read`, `write` and `add` (which answers the sum); args and answers are numbers."""


class Number:
    """Implements `Specification`."""

    def start(self) -> int:
        return 0

    def apply(self, state: int, name: str, args: int) -> Iterator[tuple[int, int]]:
        match name:
            case "read":
                yield state, state
            case "add":
                yield state + args, state + args
            case _:
                yield args, 0


class Ledger:
    """Implements `Specification`: reserve, complete and release under the caller's own number (I1, I2)."""

    def start(self) -> tuple[str, int]:
        return "free", 0

    def apply(self, state: tuple[str, int], name: str, args: int) -> Iterator[tuple[tuple[str, int], int]]:
        kept, owner = state
        match name:
            case "reserve" if kept == "free":
                yield ("reserved", args), 1
            case "complete" if state == ("reserved", args):
                yield ("completed", args), 1
            case "release" if state == ("reserved", args):
                yield ("free", 0), 1
            case _:
                yield (kept, owner), 0


def did(name: str, args: int, answer: int, *, at: tuple[int, int]) -> Op:
    return Operation(
        process="p", name=name, args=args, invoked=at[0], completed=at[1], outcome=Outcome.OK, answer=answer
    )


def tried(name: str, args: int, *, at: int) -> Op:
    """Asked at this moment, and never answered."""
    return Operation(process="p", name=name, args=args, invoked=at, completed=at, outcome=Outcome.UNKNOWN)


GOOD: dict[str, Sequence[Op]] = {
    "nothing": [],
    "a read that overlaps a write sees either": [did("write", 1, 0, at=(1, 4)), did("read", 0, 0, at=(2, 3))],
    "the order of two overlapping writes is free": [
        did("write", 1, 0, at=(1, 4)),
        did("write", 2, 0, at=(2, 3)),
        did("read", 0, 1, at=(5, 6)),
    ],
    "an unknown write took effect late": [
        tried("write", 7, at=1),
        did("read", 0, 0, at=(2, 3)),
        did("read", 0, 7, at=(4, 5)),
    ],
    "an unknown write never took effect": [tried("write", 7, at=1), did("read", 0, 0, at=(2, 3))],
    "an unknown write took effect between two others": [
        tried("add", 1, at=1),
        did("add", 1, 1, at=(2, 3)),
        did("add", 1, 3, at=(4, 5)),
    ],
    "a failure had no effect": [
        Operation(process="p", name="write", args=9, invoked=1, completed=2, outcome=Outcome.FAIL),
        did("read", 0, 0, at=(3, 4)),
    ],
}

BAD: dict[str, Sequence[Op]] = {
    "a read of what nobody wrote": [did("read", 0, 3, at=(1, 2))],
    "a stale read": [did("write", 1, 0, at=(1, 2)), did("read", 0, 0, at=(3, 4))],
    "two reads that go back": [
        did("write", 1, 0, at=(1, 8)),
        did("read", 0, 1, at=(2, 3)),
        did("read", 0, 0, at=(4, 5)),
    ],
    "two who read, and add to, the same": [did("add", 1, 1, at=(1, 4)), did("add", 1, 1, at=(2, 3))],
    "an unknown add that happened twice": [tried("add", 1, at=1), did("read", 0, 2, at=(2, 3))],
    "an unknown write before it was asked for": [did("read", 0, 7, at=(1, 2)), tried("write", 7, at=3)],
}

TWO_WINNERS = [did("reserve", 1, 1, at=(1, 4)), did("reserve", 2, 1, at=(2, 3))]
A_FOREIGN_RELEASE = [did("reserve", 1, 1, at=(1, 2)), did("release", 2, 1, at=(3, 4))]
A_STOLEN_RESERVATION = [did("reserve", 1, 1, at=(1, 2)), tried("complete", 1, at=3), did("reserve", 2, 1, at=(9, 10))]
ONE_AFTER_ANOTHER = [
    did("reserve", 1, 1, at=(1, 2)),
    did("reserve", 2, 0, at=(3, 4)),
    tried("release", 1, at=5),
    did("reserve", 2, 1, at=(6, 7)),
    did("complete", 1, 0, at=(8, 9)),
    did("complete", 2, 1, at=(10, 11)),
]


@pytest.mark.parametrize("name", GOOD)
def test_a_history_that_an_order_explains_is_accepted(name: str) -> None:
    assert linearisable(GOOD[name], Number())
    assert list(violations("n", GOOD[name], Number())) == []


@pytest.mark.parametrize("name", BAD)
def test_a_history_that_no_order_explains_is_refused(name: str) -> None:
    assert not linearisable(BAD[name], Number())
    assert len(list(violations("n", BAD[name], Number()))) == 1


def test_a_ledger_is_searched_like_a_register() -> None:
    assert linearisable(ONE_AFTER_ANOTHER, Ledger())
    assert not linearisable(TWO_WINNERS, Ledger())
    assert not linearisable(A_FOREIGN_RELEASE, Ledger())
    assert not linearisable(A_STOLEN_RESERVATION, Ledger())


def test_a_violation_is_told_by_the_shortest_beginning_that_shows_it() -> None:
    later = [did("read", 0, 1, at=(10, 11)), did("write", 5, 0, at=(12, 13))]

    (told,) = violations("n", [*BAD["a stale read"], *later], Number())

    assert told == ("n: no order of these explains the answers\n  1-2 p write 1 -> 0\n  3-4 p read 0 -> 0")


def test_many_unknown_operations_are_searched_quickly() -> None:
    history = [*(tried("write", 1, at=moment) for moment in range(40)), did("read", 0, 2, at=(50, 51))]

    assert not linearisable(history, Number())


def test_more_than_eight_at_once_are_not_searched() -> None:
    with pytest.raises(TooWide):
        linearisable([did("write", 1, 0, at=(1, 9))] * 9, Number())


moments = st.integers(0, 6)
small = st.integers(0, 2)


@st.composite
def operations(draw: st.DrawFn) -> Op:
    name = draw(st.sampled_from(["read", "write", "add"]))
    invoked = draw(moments)
    outcome = draw(st.sampled_from([Outcome.OK, Outcome.OK, Outcome.UNKNOWN, Outcome.FAIL]))
    return Operation(
        process="p",
        name=name,
        args=draw(small),
        invoked=invoked,
        completed=invoked + draw(moments),
        outcome=outcome,
        answer=draw(small) if outcome is Outcome.OK else None,
    )


@settings(deadline=None, max_examples=400, derandomize=True)
@given(st.lists(operations(), max_size=5))
def test_the_search_agrees_with_trying_every_order(history: list[Op]) -> None:
    assert linearisable(history, Number()) == _by_trying(history, Number())


def _by_trying(history: Sequence[Op], specification: Specification[int, int, int]) -> bool:
    """Every choice of unknown operations in every order that real time allows."""
    answered = [each for each in history if each.outcome is Outcome.OK]
    unknown = [each for each in history if each.outcome is Outcome.UNKNOWN]
    choices = chain.from_iterable(combinations(unknown, size) for size in range(len(unknown) + 1))
    return any(
        _allowed(order) and _explains(order, specification)
        for chosen in choices
        for order in permutations([*answered, *chosen])
    )


def _allowed(order: Sequence[Op]) -> bool:
    return not any(later.precedes(earlier) for earlier, later in combinations(order, 2))


def _explains(order: Sequence[Op], specification: Specification[int, int, int]) -> bool:
    states = {specification.start()}
    for each in order:
        states = {
            after
            for state in states
            for after, answer in specification.apply(state, each.name, each.args)
            if each.outcome is Outcome.UNKNOWN or answer == each.answer
        }
    return bool(states)
