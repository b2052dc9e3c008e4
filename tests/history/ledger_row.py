"""A row of the idempotency ledger as its callers and operators see it: one effect for a key until it expires (I1, I12).

Pure. An execution is two operations, both as long as its call: it takes the place, and it ends. Whoever asks in between
is told that it is in progress. One that ended with an unknown outcome may have left the row as it was; then nothing but
a verdict ends that, by the version that a look showed.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import timedelta
from enum import StrEnum
from typing import TypeAlias

FOREVER = timedelta.max


class Name(StrEnum):
    TAKE = "take"
    END = "end"
    LOOK = "look"
    COMPLETE = "complete"
    RELEASE = "release"


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """`request` is what is asked for and by whom, `execution` tells it from every other, `acts` are the effects that it
    truly had. A verdict names the version `seen`, and to complete the `effect` that is to be replayed.

    The clock stood at `since` when it was asked for, and at `until` when it was answered.
    """

    since: timedelta
    until: timedelta
    execution: str = ""
    request: str = ""
    acts: tuple[int, ...] = ()
    seen: str = ""
    effect: int = 0


class Said(StrEnum):
    TAKEN = "taken"
    IN_PROGRESS = "in progress"
    CONFLICT = "conflict"
    REFUSED = "refused and released"
    UNKNOWN = "unknown outcome"
    DONE = "done"
    STALE = "stale"
    RUNNING = "a call may be running"
    SETTLED = "settled"
    MISSING = "missing"


@dataclass(frozen=True, slots=True, kw_only=True)
class Executed:
    effect: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Replayed:
    effect: int


@dataclass(frozen=True, slots=True, kw_only=True)
class InProgress:
    """What a look shows of a row that may be judged."""

    version: str


Answer: TypeAlias = Said | Executed | Replayed | InProgress


@dataclass(frozen=True, slots=True, kw_only=True)
class Open:
    """`version` is known once somebody has looked."""

    execution: str
    request: str
    version: str | None = None

    @property
    def names(self) -> frozenset[str]:
        return frozenset({self.execution, *([] if self.version is None else [self.version])})


@dataclass(frozen=True, slots=True, kw_only=True)
class Done:
    """`judged` is the version that a verdict named; the clock stood somewhere from `since` to `until` then."""

    row: Open
    effect: int
    judged: str | None
    since: timedelta
    until: timedelta


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """`gone` are the executions and versions of rows that are not there any more."""

    row: Open | Done | None = None
    gone: frozenset[str] = frozenset()

    def without(self) -> "Place":
        row = self.row.row if isinstance(self.row, Done) else self.row
        return self if row is None else Place(gone=self.gone | row.names)


Step: TypeAlias = tuple[Place, Answer]


@dataclass(frozen=True, slots=True)
class LedgerRow:
    """Implements `register.Specification`; `ttl` is how long what is completed is replayed."""

    ttl: timedelta

    def start(self) -> Place:
        return Place()

    def apply(self, state: Place, name: str, args: Asked) -> Iterator[Step]:
        match name:
            case Name.TAKE:
                yield from self._taken(state, args)
            case Name.END:
                yield from _ended(state, args)
            case Name.LOOK:
                yield from self._looked(state, args)
            case Name.COMPLETE | Name.RELEASE:
                yield from _judged(state, args, completes=name == Name.COMPLETE)
            case _:
                raise ValueError(name)

    def _taken(self, state: Place, args: Asked) -> Iterator[Step]:
        row = state.row
        if row is None or self._may_have_expired(row, args):
            mine = Open(execution=args.execution, request=args.request)
            yield replace(state.without(), row=mine), Said.TAKEN
        match row:
            case Open(request=request):
                yield state, Said.IN_PROGRESS if request == args.request else Said.CONFLICT
            case Done() if row.until == FOREVER or args.since < row.until + self.ttl:
                # Whatever is replayed was completed before this was answered.
                known = replace(state, row=replace(row, until=min(row.until, args.until)))
                yield known, Replayed(effect=row.effect) if row.row.request == args.request else Said.CONFLICT
            case _:
                pass

    def _looked(self, state: Place, args: Asked) -> Iterator[Step]:
        match state.row:
            case Open(version=None) as row if args.seen not in state.gone:
                yield replace(state, row=replace(row, version=args.seen)), InProgress(version=args.seen)
            case Open(version=str(version)):
                yield state, InProgress(version=version)
            case Done() as row:
                yield state, Said.SETTLED
                if self._may_have_expired(row, args):
                    yield state.without(), Said.MISSING
            case _:
                yield state, Said.MISSING

    def _may_have_expired(self, row: Open | Done, args: Asked) -> bool:
        return isinstance(row, Done) and args.until >= row.since + self.ttl


def _ended(state: Place, args: Asked) -> Iterator[Step]:
    row = state.row
    if isinstance(row, Open) and row.execution == args.execution:
        yield from _proven(state, row, args)
        # An end that could not be proven is there by now, or it never will be.
        yield state, Said.UNKNOWN
        yield from [(after, Said.UNKNOWN) for after, _ in _proven(state, row, args)]
    elif args.execution in state.gone:
        # Released already, by a verdict.
        yield state, Said.UNKNOWN
        if not args.acts:
            yield state, Said.REFUSED
    elif isinstance(row, Done) and row.row.execution == args.execution:
        yield state, Said.UNKNOWN


def _proven(state: Place, row: Open, args: Asked) -> Iterator[Step]:
    for effect in args.acts:
        yield _done(state, row, args, effect=effect, judged=None), Executed(effect=effect)
    if not args.acts:
        yield state.without(), Said.REFUSED


def _judged(state: Place, args: Asked, *, completes: bool) -> Iterator[Step]:
    row = state.row
    if isinstance(row, Open) and row.version == args.seen:
        after = _done(state, row, args, effect=args.effect, judged=args.seen) if completes else state.without()
        yield after, Said.DONE
        yield state, Said.RUNNING
        return
    yield state, Said.STALE
    again = isinstance(row, Done) and (row.judged, row.effect) == (args.seen, args.effect)
    # Who lost the answer to a release cannot know whose it was that is found to have happened.
    if again if completes else args.seen in state.gone:
        yield state, Said.DONE


def _done(state: Place, row: Open, args: Asked, *, effect: int, judged: str | None) -> Place:
    return replace(state, row=Done(row=row, effect=effect, judged=judged, since=args.since, until=args.until))
