"""I: rows of the ledger, held against what the other system truly did and who was about to do what."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

import orjson

from services.coordinator.ledger.rows import Completed, InProgress, Row
from services.kernel.ports import Create, Delete, Replace, Write
from services.kernel.wire.audit import Act
from tests.simulation.operations_upstream import SECRET, Books, Execution
from tests.simulation.process import Asking

KEY = "canary-key-"
CREDENTIAL = "canary-credential"
_SECRETS = (KEY, CREDENTIAL, SECRET)
_EXPIRES = "expire"


@dataclass(frozen=True, slots=True, kw_only=True)
class Intent:
    """What the audit says that somebody is about to do."""

    act: Act
    target: str
    by: Asking | None


@dataclass(slots=True, kw_only=True)
class Witness:
    """Who made which reservation, what was intended by the audit, and which reservations operators settled."""

    books: Books
    owners: dict[str, tuple[Asking | None, Execution | None]] = field(
        default_factory=dict[str, tuple[Asking | None, Execution | None]]
    )
    intents: list[Intent] = field(default_factory=list[Intent])
    settled: set[str] = field(default_factory=set[str])


@dataclass(frozen=True, slots=True, kw_only=True)
class LedgerStep:
    """One commit of the ledger. `by` is the request that made it; None is the database, which deletes what expired."""

    before: Mapping[str, Row]
    after: Mapping[str, Row]
    writes: Sequence[Write]
    at: datetime
    by: Asking | None
    witness: Witness

    @property
    def is_verdict(self) -> bool:
        return self.by is not None and "/v1/ledger/" in self.by.path

    def reserved(self) -> Iterator[tuple[str, InProgress, Row | None]]:
        """New reservations, each with what was in its place."""
        for document, row in self.after.items():
            was = self.before.get(document)
            if isinstance(row, InProgress) and (was is None or was.reservation_id != row.reservation_id):
                yield document, row, was

    def ended(self) -> Iterator[tuple[str, InProgress, Completed | None]]:
        """Reservations that are not in progress any more, each with what became of it; None: it is gone."""
        for document, was in self.before.items():
            row = self.after.get(document)
            if isinstance(was, InProgress) and row is not was and not isinstance(row, InProgress):
                yield document, was, row


LedgerCheck = Callable[[LedgerStep], Iterator[str]]


def i1(step: LedgerStep) -> Iterator[str]:
    """A place is taken if it is free, or if what is there has expired."""
    for document, row, was in step.reserved():
        if was is not None and not (isinstance(was, Completed) and was.expired(step.at)):
            yield f"{document} went from reservation {was.reservation_id} to {row.reservation_id}"


def i2(step: LedgerStep) -> Iterator[str]:
    """Only who reserved ends a reservation, or a verdict; what it was for stays."""
    for document, was, row in step.ended():
        owner, _ = step.witness.owners.get(was.reservation_id, (None, None))
        if not step.is_verdict and (step.by is None or step.by is not owner):
            yield f"{document} was ended by {step.by and step.by.path}, which had not reserved it"
        if row is not None and _request(row) != _request(was):
            yield f"{document} was completed as {_request(row)}, and reserved as {_request(was)}"


def i3(step: LedgerStep) -> Iterator[str]:
    """A row in progress has no field for an expiry, and nothing but its owner or a verdict takes it away."""
    for write in step.writes:
        match write:
            case Create(ref=ref, data=data) | Replace(ref=ref, data=data):
                if data["status"] == "in_progress" and any(_EXPIRES in name for name in data):
                    yield f"{ref.id} is in progress and has {sorted(data)}"
            case Delete(ref=ref):
                if step.by is None and isinstance(step.before.get(ref.id), InProgress):
                    yield f"{ref.id} was in progress and was deleted by nobody"


def i4(step: LedgerStep) -> Iterator[str]:
    """What is completed stays as it is until it expires."""
    for document, was in step.before.items():
        if isinstance(was, Completed) and step.after.get(document) != was and not was.expired(step.at):
            yield f"{document} was completed until {was.expires_at} and was changed at {step.at}"


def i5(step: LedgerStep) -> Iterator[str]:
    """No key, caller, credential or secret of an answer is in a row."""
    for write in step.writes:
        written = repr(write)
        for secret in (*_SECRETS, "@example.com"):
            if secret in written:
                yield f"{write.ref.id} has {secret}"


def i10(step: LedgerStep) -> Iterator[str]:
    """What acted is not released."""
    for document, was, row in step.ended():
        if row is None and step.witness.books.of(was.reservation_id):
            yield f"{document} was released, and its call had acted"


def i11(step: LedgerStep) -> Iterator[str]:
    """Nobody reserves who has not said so in the audit."""
    for _, row, _ in step.reserved():
        target = f"operations/{row.operation_id}"
        if not any((each.target, each.by) == (target, step.by) for each in step.witness.intents):
            yield f"{row.reservation_id} was reserved, and nobody had said so"


def i12(step: LedgerStep) -> Iterator[str]:
    """A verdict comes after all attempts have ended, and after its intent."""
    if not step.is_verdict:
        return
    for document, was, row in step.ended():
        if step.at <= was.max_until:
            yield f"{document} was settled at {step.at}, and a call may be running until {was.max_until}"
        act = Act.LEDGER_RELEASE if row is None else Act.LEDGER_COMPLETE
        if not any(each.act is act and each.target.endswith(document) for each in step.witness.intents):
            yield f"{document} was settled by a {act} that nobody intended"


def i13(step: LedgerStep) -> Iterator[str]:
    """What is kept is what the other system answered, less what is secret in it."""
    for document, was, row in step.ended():
        if row is None:
            continue
        kept = [effect.kept for effect in step.witness.books.of(was.reservation_id)]
        summary = [None] if any(effect.is_huge for effect in step.witness.books.of(was.reservation_id)) else []
        if row.response_status != 201 or orjson.loads(row.result_json) not in [*kept, *(summary)]:
            yield f"{document} keeps {row.response_status} {row.result_json[:200]}, and what was done is {kept}"


LEDGER: tuple[LedgerCheck, ...] = (i1, i2, i3, i4, i5, i10, i11, i12, i13)


def check(step: LedgerStep) -> list[str]:
    """What is wrong, each with the invariant's id."""
    return [f"{each.__name__.upper()}: {found}" for each in LEDGER for found in each(step)]


def called(document: str, row: Row | None, *, at: datetime, by: Asking | None, witness: Witness) -> Iterator[str]:
    """A call is made by who reserved it, while it stands, and in time (I7, I8)."""
    if not isinstance(row, InProgress):
        yield f"I7: {document} was called without a reservation"
        return
    owner, _ = witness.owners.get(row.reservation_id, (None, None))
    if owner is None or owner is not by:
        yield f"I8: {document} was called under the reservation of another"
    if at > row.max_until:
        yield f"I7: {document} was called at {at}, and all calls were to have ended at {row.max_until}"


def acted(books: Books) -> Iterator[str]:
    """Under a reservation there is one effect at most (I7)."""
    for effect in books.effects:
        if effect.reservation is not None and len(books.of(effect.reservation)) > 1:
            yield f"I7: {effect.document} has {len(books.of(effect.reservation))} effects under one reservation"


def _request(row: Row) -> tuple[object, ...]:
    return row.fingerprint, row.reservation_id, row.operation_id, row.started_at, row.max_until
