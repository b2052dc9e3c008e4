"""The ledger over a store, which may be another than the state's: nothing is committed across the two.

A caller reserves the place of a key, calls the other system, and completes its reservation with the answer; or releases
it, on proof that no attempt acted; or leaves it, and then it stays until an operator has found out what happened.
"""

from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final, TypeAlias

from services.coordinator.ledger import keys, rows, settle
from services.coordinator.ledger.changes import Changes, Guess, Rule
from services.coordinator.ledger.documents import Documents
from services.coordinator.ledger.reading import Reading
from services.coordinator.ledger.rows import Completed, InProgress, Response, Row
from services.coordinator.records.table import Held
from services.kernel.errors import Ambiguous, AnvilError, LedgerUnavailable, OutcomeUnknown, Transient, Unavailable
from services.kernel.ports import Clock, Ids, Store, Version
from services.kernel.wire.ledger import LedgerQuery, LedgerRow
from services.kernel.wire.model import Page

PATIENCE: Final = timedelta(seconds=10)


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """What a reservation is for. No attempt may run after `max_until`."""

    fingerprint: str
    operation_id: str
    trace_id: str | None
    max_until: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Reserved:
    """The caller's own: it alone may call, and ends it by `complete` or `release`, or leaves it."""

    document: str
    row: InProgress
    version: Version


@dataclass(frozen=True, slots=True, kw_only=True)
class Replayed:
    """The same request was answered before."""

    row: Completed


@dataclass(frozen=True, slots=True, kw_only=True)
class Running:
    """The same request is running, or nobody knows what became of it."""

    row: InProgress


Reservation: TypeAlias = Reserved | Replayed | Running


class Ledger:
    """`durable`: it outlives this process, and others see it. `patience` bounds how long a lost answer is pursued."""

    def __init__(
        self,
        store: Store,
        *,
        collection: str,
        durable: bool,
        clock: Clock,
        ids: Ids,
        patience: timedelta = PATIENCE,
    ) -> None:
        documents = Documents(collection, ids=ids)
        self.collection = collection
        self.durable = durable
        self._changes = Changes(store, documents, clock=clock, ids=ids, patience=patience)
        self._reading = Reading(store, documents)
        self._clock = clock
        self._ids = ids

    def reference(self, document: str) -> str:
        return keys.reference(self.collection, document)

    async def reserve(self, document: str, wanted: Wanted) -> Reservation:
        """Take the place of a key, or see who has it: of any number at once, one reserves (R101).

        Raises:
            IdempotencyKeyReused: the key stands for another request.
            LedgerUnavailable: it is not certain that the place was taken. Nothing was called; what may have been
                written is deleted, as far as that goes.
        """
        mine = self._reservation(wanted)
        try:
            held = await self._changes.make(
                document, lambda found: rows.reserve(found, mine, now=self._clock.now()), guess=Guess(None)
            )
        except Ambiguous as error:
            await self._withdraw(document, mine)
            raise LedgerUnavailable("no reservation could be proven; nothing was called") from error
        except Unavailable as error:
            raise LedgerUnavailable from error
        return _reservation(document, mine, held)

    async def complete(self, reserved: Reserved, response: Response, *, ttl: timedelta) -> Completed:
        """Keep the answer, to be replayed for `ttl`.

        Raises:
            TooLarge: the answer is; nothing was written, and the row stays (R110).
            OutcomeUnknown: that it was written is not proven, or somebody else decided; nothing is released (R131).
        """
        until = self._clock.now() + ttl
        done = rows.completed(reserved.row, response, completion_id=self._ids.token(), expires_at=until)
        reference = self.reference(reserved.document)
        await self._own(reserved, lambda found: rows.complete(found, done, at=reserved.version, reference=reference))
        return done

    async def release(self, reserved: Reserved) -> None:
        """Let the key be used again: only on proof that no attempt acted.

        Raises:
            OutcomeUnknown: that it is gone is not proven, or somebody else decided.
        """
        mine, at, reference = reserved.row.reservation_id, reserved.version, self.reference(reserved.document)
        await self._own(reserved, lambda found: rows.release(found, mine, at=at, reference=reference))

    async def settle_complete(
        self, document: str, if_version: Version, response: Response, *, ttl: timedelta
    ) -> Held[Row]:
        """An operator's verdict: it happened, and this is the answer. Asking again finds it applied.

        Raises:
            NotFound, StaleVersion, AlreadySettled, AttemptRunning: see `settle.unsettled`.
            TooLarge: no row could hold the answer.
            LedgerUnavailable: nothing was changed.
            Ambiguous: perhaps it was; ask again.
        """
        verdict = settle.Verdict.of(response, at=if_version, reference=self.reference(document))

        def rule(found: Held[Row] | None) -> rows.Step:
            now = self._clock.now()
            return settle.complete(found, verdict, now=now, expires_at=now + ttl)

        held = await self._judged(document, rule)
        if held is None:
            raise LookupError("a verdict that it happened leaves a row")
        return held

    async def settle_release(self, document: str, if_version: Version) -> None:
        """An operator's verdict: it did not happen, and the key is free again.

        Raises:
            NotFound, StaleVersion, AlreadySettled, AttemptRunning: see `settle.unsettled`.
            LedgerUnavailable: nothing was changed.
            Ambiguous: perhaps it was; once a row is gone, it was released.
        """
        reference = self.reference(document)
        await self._judged(
            document, lambda found: settle.release(found, at=if_version, now=self._clock.now(), reference=reference)
        )

    async def read(self, document: str) -> Held[Row]:
        """The whole row, with its result.

        Raises:
            NotFound: there is none.
            LedgerUnavailable: the ledger is away.
        """
        return await self._reading.row(document)

    async def show(self, document: str) -> LedgerRow:
        """What people may see of a row; its result is not read.

        Raises:
            NotFound: there is none.
            LedgerUnavailable: the ledger is away.
        """
        return await self._reading.shown(document)

    async def page(self, query: LedgerQuery) -> Page[LedgerRow]:
        """Rows as people may see them, newest first.

        Raises:
            Invalid: the page token is not of this list.
            LedgerUnavailable: the ledger is away.
        """
        return await self._reading.page(query)

    async def probe(self) -> None:
        """See that the ledger answers, by one row that need not exist; nothing is changed.

        Raises:
            LedgerUnavailable: it does not.
        """
        await self._reading.probe()

    async def _own(self, reserved: Reserved, rule: Rule) -> None:
        """A change of one's own reservation: a ledger that is away is waited for."""
        as_left = Guess(Held(reserved.row, reserved.version))
        try:
            await self._changes.make(reserved.document, rule, guess=as_left, patient=True)
        except Transient as error:
            said = "what became of the row could not be found out"
            raise OutcomeUnknown(said, ledger_ref=self.reference(reserved.document)) from error

    async def _judged(self, document: str, rule: Rule) -> Held[Row] | None:
        """An operator's change of anybody's row."""
        try:
            return await self._changes.make(document, rule)
        except Unavailable as error:
            raise LedgerUnavailable("the ledger is away; nothing was changed") from error

    async def _withdraw(self, document: str, mine: InProgress) -> None:
        with suppress(AnvilError):
            await self._changes.make(document, lambda found: rows.withdraw(found, mine.reservation_id))

    def _reservation(self, wanted: Wanted) -> InProgress:
        return InProgress(
            fingerprint=wanted.fingerprint,
            reservation_id=self._ids.token(),
            operation_id=wanted.operation_id,
            trace_id=wanted.trace_id,
            started_at=self._clock.now(),
            max_until=wanted.max_until,
        )


def _reservation(document: str, mine: InProgress, held: Held[Row] | None) -> Reservation:
    match held:
        case Held(value=Completed() as row):
            return Replayed(row=row)
        case Held(value=InProgress() as row, version=version) if row.reservation_id == mine.reservation_id:
            return Reserved(document=document, row=row, version=version)
        case Held(value=InProgress() as row):
            return Running(row=row)
        case _:
            raise LookupError("a reservation leaves no place empty")
