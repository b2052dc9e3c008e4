"""A delivery row as its callers see it: the first to come decides it, for 72 hours, and the others are told (D4, D5).

Pure. Whether there was room in the queue is not the row's to know: of a push it says both.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import timedelta

from services.kernel.wire.deliveries import Outcome

DEDUPE = timedelta(hours=72)
FOREVER = timedelta.max


@dataclass(frozen=True, slots=True, kw_only=True)
class Accept:
    """A verified delivery that offers a run. `wants` is what it comes to if it is decided by itself and there is room.

    The system's clock stood at `since` when it was asked for, and at `until` when it was answered.
    """

    run_id: str
    wants: Outcome
    since: timedelta
    until: timedelta


@dataclass(frozen=True, slots=True, kw_only=True)
class Told:
    outcome: Outcome
    run_id: str | None
    duplicate: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """`by` is the run that the deciding call offered; the clock stood somewhere from `since` to `until` then."""

    outcome: Outcome
    run_id: str | None
    by: str
    since: timedelta
    until: timedelta


class DeliveryRow:
    """Implements `register.Specification`."""

    def start(self) -> Row | None:
        return None

    def apply(self, state: Row | None, name: str, args: Accept) -> Iterator[tuple[Row | None, Told]]:
        if state is None:
            yield from _decided(args, since=args.since)
            return
        if args.until >= state.since + DEDUPE:
            yield from _decided(args, since=max(args.since, state.since + DEDUPE))
        if args.until >= state.since and args.since < _ends(state):
            yield from _again(state, args)


def _again(row: Row, args: Accept) -> Iterator[tuple[Row | None, Told]]:
    # Whatever came before was decided before this was answered.
    known = replace(row, until=min(row.until, args.until))
    if row.by == args.run_id:
        yield known, Told(outcome=row.outcome, run_id=row.run_id, duplicate=False)
    elif row.outcome is Outcome.QUEUE_FULL and args.wants is Outcome.ACCEPTED:
        yield from _decided(args, since=max(args.since, row.since))
    else:
        yield known, Told(outcome=row.outcome, run_id=row.run_id, duplicate=True)


def _decided(args: Accept, *, since: timedelta) -> Iterator[tuple[Row, Told]]:
    outcomes = (Outcome.ACCEPTED, Outcome.QUEUE_FULL) if args.wants is Outcome.ACCEPTED else (args.wants,)
    for outcome in outcomes:
        run_id = args.run_id if outcome is Outcome.ACCEPTED else None
        row = Row(outcome=outcome, run_id=run_id, by=args.run_id, since=since, until=args.until)
        yield row, Told(outcome=outcome, run_id=run_id, duplicate=False)


def _ends(row: Row) -> timedelta:
    return FOREVER if row.until == FOREVER else row.until + DEDUPE
