"""What became of a call: whether the other system acted, did not, or nobody knows; and whether to call again.

Pure. Only the catalogue's word, or a request that never left, proves that nothing happened (I10): 408, 409, 425, 429,
5xx, redirects, timeouts and broken connections prove nothing.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from enum import StrEnum
from typing import Final, TypeAlias

from services.coordinator.operations.model import MAX_ATTEMPTS, MAX_TIMEOUT, Operation
from services.kernel.strict_json import JsonValue

_FIRST_PAUSE: Final = timedelta(milliseconds=500)
_LONGEST_PAUSE: Final = timedelta(seconds=8)
_MARGIN: Final = timedelta(seconds=10)
_WORTH_ANOTHER: Final = frozenset({408, 425, 429, *range(500, 600)})


@dataclass(frozen=True, slots=True, kw_only=True)
class Answered:
    """A whole answer. `result` is its body: JSON, else text, else None; unread, and None too, if it was `too_long`."""

    status: int
    result: JsonValue = field(default=None, repr=False)
    is_json: bool = True
    too_long: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class NeverSent:
    """Not a byte of the request left: no address, no connection, no trust, or too late to begin."""

    why: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Lost:
    """The request began to leave, and no whole answer came."""

    why: str


Attempt: TypeAlias = Answered | NeverSent | Lost


class Effect(StrEnum):
    ACTED = "acted"
    NONE = "none"
    UNKNOWN = "unknown"


def effect(operation: Operation, attempt: Attempt) -> Effect:
    """What one attempt did to the other system, as far as anybody can know here."""
    match attempt:
        case Answered(status=status) if status in operation.success:
            return Effect.ACTED
        case Answered(status=status) if status in operation.proves_no_effect:
            return Effect.NONE
        case NeverSent():
            return Effect.NONE
        case Answered() | Lost():
            return Effect.UNKNOWN


def effect_of_all(operation: Operation, attempts: Sequence[Attempt]) -> Effect:
    """One that acted is enough; that nothing happened has to be proven of each."""
    effects = {effect(operation, attempt) for attempt in attempts}
    if Effect.ACTED in effects:
        return Effect.ACTED
    return Effect.UNKNOWN if Effect.UNKNOWN in effects else Effect.NONE


def calls_again(operation: Operation, attempts: Sequence[Attempt], *, guarded: bool) -> bool:
    """Whether a repeat, where one is safe, would be of use.

    Under the ledger's guard it is as long as it is open what happened: a later success settles it. Without it only for
    what passes.
    """
    last = attempts[-1]
    if isinstance(last, NeverSent):
        return True
    if guarded:
        return effect_of_all(operation, attempts) is Effect.UNKNOWN
    return isinstance(last, Lost) or last.status in _WORTH_ANOTHER


def last_answer(attempts: Sequence[Attempt]) -> Answered | None:
    return next((attempt for attempt in reversed(attempts) if isinstance(attempt, Answered)), None)


def was_sent(attempts: Sequence[Attempt]) -> bool:
    """Whether any attempt may have reached the other system."""
    return any(not isinstance(attempt, NeverSent) for attempt in attempts)


def pause(ended: int, *, fraction: float) -> timedelta:
    """How long to wait after this many attempts, with jitter: between half of the doubled pause and all of it."""
    doubled: timedelta = _FIRST_PAUSE * (1 << (ended - 1))
    return min(doubled, _LONGEST_PAUSE) * (0.5 + fraction / 2)


def longest(*, attempts: int, timeout: timedelta) -> timedelta:
    """How long all attempts can take at most. Each has its timeout, and so much is kept for the last to begin late."""
    pauses = sum((pause(ended, fraction=1) for ended in range(1, attempts)), timedelta())
    return attempts * timeout + pauses + timeout + _MARGIN


LONGEST: Final = longest(attempts=MAX_ATTEMPTS, timeout=MAX_TIMEOUT)
"""The longest that any execution can be about its calls."""
