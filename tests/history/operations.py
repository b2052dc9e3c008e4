"""What was asked of a system from outside, and what came of it: the raw material of every check of a history.

Pure. Moments are whole numbers that only ever rise: steps of a test, or nanoseconds of a machine's monotonic clock.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Generic, TypeVar

Args = TypeVar("Args")
Answer = TypeVar("Answer")


class Outcome(StrEnum):
    """`FAIL`: it surely had no effect. `UNKNOWN`: nobody was told; it had its effect, will have it later, or never."""

    OK = "ok"
    FAIL = "fail"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True, kw_only=True)
class Operation(Generic[Args, Answer]):
    """One call of one caller. `answer` is there if it is `OK`; a refusal that says something is an answer too."""

    process: str
    name: str
    args: Args
    invoked: int
    completed: int
    outcome: Outcome
    answer: Answer | None = None

    def precedes(self, other: "Operation[Args, Answer]") -> bool:
        """Whether it had its effect, if any, before the other was asked for."""
        return self.outcome is not Outcome.UNKNOWN and self.completed < other.invoked


@dataclass(slots=True)
class Pending(Generic[Args, Answer]):
    """An operation that was asked for. Whoever asked says once how it ended."""

    log: "Log[Args, Answer]"
    process: str
    name: str
    args: Args
    invoked: int
    open: bool = True

    def ok(self, answer: Answer) -> None:
        self._ends(Outcome.OK, answer)

    def fail(self) -> None:
        self._ends(Outcome.FAIL, None)

    def unknown(self) -> None:
        self._ends(Outcome.UNKNOWN, None)

    def _ends(self, outcome: Outcome, answer: Answer | None) -> None:
        if not self.open:
            raise ValueError(f"{self.process} has said already how {self.name} ended")
        self.open = False
        self.log.operations.append(
            Operation(
                process=self.process,
                name=self.name,
                args=self.args,
                invoked=self.invoked,
                completed=self.log.moment(),
                outcome=outcome,
                answer=answer,
            )
        )


@dataclass(slots=True)
class Log(Generic[Args, Answer]):
    """The operations on one object, in the order in which they ended. `moment` gives a later number each time."""

    moment: Callable[[], int]
    operations: list[Operation[Args, Answer]] = field(default_factory=list[Operation[Args, Answer]])

    def asks(self, process: str, name: str, args: Args) -> Pending[Args, Answer]:
        return Pending(log=self, process=process, name=name, args=args, invoked=self.moment())


def told(operations: Iterable[Operation[Args, Answer]]) -> Iterator[str]:
    """For people: one line an operation, by when it was asked for."""
    for each in sorted(operations, key=lambda operation: operation.invoked):
        end = "…" if each.outcome is Outcome.UNKNOWN else each.completed
        said = each.answer if each.outcome is Outcome.OK else each.outcome
        yield f"{each.invoked}-{end} {each.process} {each.name} {each.args} -> {said}"
