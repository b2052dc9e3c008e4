"""Linearisability: whether what concurrent callers were answered could have come from one of them at a time.

Pure. Wing and Gong's search over the orders that real time allows, with a memory of what was tried (Lowe's): of an
order only the set of operations that took effect counts, and the state that they left. An unknown operation may take
effect at any later time, or never. The object is a parameter: a register, a dedupe row, an idempotency ledger.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import Protocol, TypeVar

from tests.history.operations import Operation, Outcome, told

State = TypeVar("State")
Args = TypeVar("Args")
Answer = TypeVar("Answer")
Args_contra = TypeVar("Args_contra", contravariant=True)
Answer_co = TypeVar("Answer_co", covariant=True)

WIDTH = 8
"""How many operations may be open at once: more would take too long to search, and say little more."""


class Specification(Protocol[State, Args_contra, Answer_co]):
    """How the object behaves towards one caller at a time. States and answers are values that can be hashed."""

    def start(self) -> State: ...

    def apply(self, state: State, name: str, args: Args_contra) -> Iterable[tuple[State, Answer_co]]:
        """Every state that the operation may leave, each with its answer; several if it is not told here which."""
        ...


class TooWide(Exception):
    """More operations were open at once than can be searched."""


def linearisable(
    history: Sequence[Operation[Args, Answer]], specification: Specification[State, Args, Answer], *, width: int = WIDTH
) -> bool:
    """
    Raises:
        TooWide: more than `width` answered operations were open at once.
    """
    told_of = [each for each in history if each.outcome is Outcome.OK]
    if (widest := max(_open(told_of), default=0)) > width:
        raise TooWide(f"{widest} operations were open at once, and {width} can be searched")
    operations = [*told_of, *(each for each in history if each.outcome is Outcome.UNKNOWN)]
    answered = frozenset(range(len(told_of)))
    start: tuple[frozenset[int], State] = (frozenset(), specification.start())
    tried, pending = {start}, [start]
    while pending:
        done, state = pending.pop()
        if answered <= done:
            return True
        for step in _steps(operations, done, state, specification):
            if step not in tried:
                tried.add(step)
                pending.append(step)
    return False


def violations(
    key: str, history: Sequence[Operation[Args, Answer]], specification: Specification[State, Args, Answer]
) -> Iterator[str]:
    """Tells of a history that no order explains, with the shortest beginning of it that is not explained."""
    ended = sorted(history, key=lambda operation: operation.completed)
    if linearisable(ended, specification):
        return
    for length in range(1, len(ended) + 1):
        # Whoever had asked by then without an answer may have had an effect already.
        until = ended[length - 1].completed
        known = [each for each in ended if each.outcome is not Outcome.FAIL and each.invoked <= until]
        part = [each if each.completed <= until else _unanswered(each) for each in known]
        if not linearisable(part, specification):
            yield "\n  ".join([f"{key}: no order of these explains the answers", *told(part)])
            return


def _steps(
    operations: Sequence[Operation[Args, Answer]],
    done: frozenset[int],
    state: State,
    specification: Specification[State, Args, Answer],
) -> Iterator[tuple[frozenset[int], State]]:
    """What may take effect next: whatever was asked for before the first answer that is still to be explained."""
    left = [index for index in range(len(operations)) if index not in done]
    until = min(operations[index].completed for index in left if operations[index].outcome is Outcome.OK)
    for index in left:
        operation = operations[index]
        if operation.invoked > until:
            continue
        for after, answer in specification.apply(state, operation.name, operation.args):
            # An unknown one that changes nothing need not have happened, and may still come.
            if answer == operation.answer if operation.outcome is Outcome.OK else after != state:
                yield done | {index}, after


def _open(operations: Sequence[Operation[Args, Answer]]) -> Iterator[int]:
    for each in operations:
        yield sum(other.invoked <= each.invoked <= other.completed for other in operations)


def _unanswered(operation: Operation[Args, Answer]) -> Operation[Args, Answer]:
    return Operation(
        process=operation.process,
        name=operation.name,
        args=operation.args,
        invoked=operation.invoked,
        completed=operation.completed,
        outcome=Outcome.UNKNOWN,
    )
