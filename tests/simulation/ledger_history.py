"""What customers and operators were told about each key, as a history that some order must explain."""

from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass, field, replace
from datetime import timedelta

from pydantic import JsonValue

from services.kernel.errors import (
    AlreadySettled,
    AnvilError,
    AttemptRunning,
    IdempotencyInProgress,
    IdempotencyKeyReused,
    NotFound,
    OutcomeUnknown,
    StaleVersion,
)
from services.kernel.wire import ledger as wire
from services.kernel.wire.operations import Executed
from tests.history import ledger_row, register
from tests.history.ledger_row import FOREVER, Answer, Asked, InProgress, LedgerRow, Name, Replayed, Said
from tests.history.operations import Log, Operation, Pending
from tests.simulation.operations_upstream import Books, Execution

Key = tuple[str, str]

_NOTHING = 0
"""The effect of which nothing is kept."""


@dataclass(slots=True, kw_only=True)
class Call:
    """An execution that was asked for. Whoever asked says once what was said."""

    take: Pending[Asked, Answer]
    end: Pending[Asked, Answer]
    elapsed: Callable[[], timedelta]

    def told(self, executed: Executed) -> None:
        if executed.replayed:
            self._said(Replayed(effect=number(executed.result)))
        elif executed.ledger_ref is not None:
            # It acted, and the row stays.
            self._said(Said.TAKEN)
        else:
            refused = executed.status == 422
            self._said(Said.TAKEN, Said.REFUSED if refused else ledger_row.Executed(effect=number(executed.result)))

    def refused(self, error: AnvilError) -> None:
        match error:
            case IdempotencyInProgress():
                self._said(Said.IN_PROGRESS)
            case IdempotencyKeyReused():
                self._said(Said.CONFLICT)
            case OutcomeUnknown():
                self._said(Said.TAKEN, Said.UNKNOWN)
            case _:
                self.take.unknown()
                self.end.unknown()

    def _said(self, taken: Answer, ended: Answer | None = None) -> None:
        for pending in (self.take, self.end):
            pending.args = replace(pending.args, until=self.elapsed())
        self.take.ok(taken)
        if ended is None:
            self.end.fail()
        else:
            self.end.ok(ended)


@dataclass(slots=True, kw_only=True)
class History:
    """`keys` says whose row a document is."""

    books: Books
    elapsed: Callable[[], timedelta]
    moment: int = 0
    keys: dict[str, Key] = field(default_factory=dict[str, Key])
    rows: dict[Key, Log[Asked, Answer]] = field(default_factory=dict[Key, Log[Asked, Answer]])
    executions: dict[str, Execution] = field(default_factory=dict[str, Execution])

    def executes(self, execution: Execution) -> Call:
        id_ = f"execution {len(self.executions) + 1}"
        self.executions[id_] = execution
        args = replace(self._asked(), execution=id_, request=f"{execution.number} for {execution.actor}")
        log = self._log((execution.operation, execution.key))
        return Call(
            take=log.asks("customer", Name.TAKE, args),
            end=log.asks("customer", Name.END, args),
            elapsed=self.elapsed,
        )

    async def looks(self, document: str, asking: Awaitable[wire.LedgerRowView]) -> wire.LedgerRowView:
        """
        Raises:
            AnvilError: what was said, if the row was not shown.
        """
        pending = self._of(document).asks("operator", Name.LOOK, self._asked())
        try:
            row = await asking
        except NotFound:
            self._ends(pending, Said.MISSING)
            raise
        except AnvilError:
            pending.fail()
            raise
        is_open = row.status is wire.RowStatus.IN_PROGRESS
        pending.args = replace(pending.args, seen=row.version)
        self._ends(pending, InProgress(version=row.version) if is_open else Said.SETTLED)
        return row

    async def judges(
        self, document: str, seen: str, asking: Awaitable[wire.Settled], *, effect: int | None = None
    ) -> wire.Settled:
        """A verdict: that there was this effect, or that there was none.

        Raises:
            AnvilError: what was said, if it was not settled by this.
        """
        args = replace(self._asked(), seen=seen, effect=effect or _NOTHING)
        name = Name.RELEASE if effect is None else Name.COMPLETE
        pending = self._of(document).asks("operator", name, args)
        try:
            settled = await asking
        except (StaleVersion, AlreadySettled, NotFound):
            self._ends(pending, Said.STALE)
            raise
        except AttemptRunning:
            self._ends(pending, Said.RUNNING)
            raise
        except AnvilError:
            pending.unknown()
            raise
        self._ends(pending, Said.DONE)
        return settled

    def wrong(self, *, ttl: timedelta, reach: Callable[[str], None]) -> Iterator[str]:
        """What no order explains, now that everything has ended."""
        for key, log in self.rows.items():
            known = [self._known(each) for each in log.operations]
            try:
                yield from register.violations(f"I1: {' '.join(key)}", known, LedgerRow(ttl))
            except register.TooWide:
                continue
            reach("all that was told about a key, put in an order")

    def _known(self, operation: Operation[Asked, Answer]) -> Operation[Asked, Answer]:
        """With what the other system truly did."""
        execution = self.executions.get(operation.args.execution)
        acts = [number(each.body) for each in self.books.effects if execution is not None and each.by is execution]
        return replace(operation, args=replace(operation.args, acts=tuple(acts)))

    def _asked(self) -> Asked:
        return Asked(since=self.elapsed(), until=FOREVER)

    def _ends(self, pending: Pending[Asked, Answer], answer: Answer) -> None:
        pending.args = replace(pending.args, until=self.elapsed())
        pending.ok(answer)

    def _of(self, document: str) -> Log[Asked, Answer]:
        return self._log(self.keys.get(document, ("", document)))

    def _log(self, key: Key) -> Log[Asked, Answer]:
        return self.rows.setdefault(key, Log(self._tick))

    def _tick(self) -> int:
        self.moment += 1
        return self.moment


def number(body: JsonValue) -> int:
    """Which effect an answer tells of."""
    made = body.get("invoice") if isinstance(body, dict) else None
    return made if isinstance(made, int) else _NOTHING
