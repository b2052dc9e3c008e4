"""Rows of the ledger, and what their owner may make of them: reserve, complete, release.

Pure. A row in progress has no expiry, not even an empty one: nothing but its owner's proof or an operator's verdict
ends it, however old it is (R111). A completed row is as good as absent once it has expired, deleted or not (R108).

Each rule is asked again with what is found when it is not known what became of a write; reservation and completion have
ids of their own, by which a rule sees that it was applied.
"""

from dataclasses import dataclass, field
from datetime import datetime
from typing import TypeAlias

from services.coordinator.records.table import Held
from services.kernel.errors import FieldProblem, IdempotencyKeyReused, Invalid, OutcomeUnknown
from services.kernel.ports import Version
from services.kernel.wire.operations import RESULT_CEILING


@dataclass(frozen=True, slots=True, kw_only=True)
class InProgress:
    """Somebody may call, or has called. No attempt runs after `max_until`; that it is past proves nothing."""

    fingerprint: str
    reservation_id: str
    operation_id: str
    trace_id: str | None
    started_at: datetime
    max_until: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Completed:
    """The other system's answer, to be replayed until `expires_at`; `result_json` is redacted."""

    fingerprint: str
    reservation_id: str
    operation_id: str
    trace_id: str | None
    started_at: datetime
    max_until: datetime
    completion_id: str
    response_status: int
    result_json: str = field(repr=False)
    expires_at: datetime

    def expired(self, now: datetime) -> bool:
        return now >= self.expires_at


Row: TypeAlias = InProgress | Completed


@dataclass(frozen=True, slots=True, kw_only=True)
class Put:
    """Write the row: anew, or in place of the one at version `at`."""

    row: Row
    at: Version | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Remove:
    """Delete the row at version `at`, which is this reservation's."""

    reservation_id: str
    at: Version

    def has_happened(self, found: Held[Row] | None) -> bool:
        """Whether the row is gone, though another may be in its place."""
        return found is None or found.value.reservation_id != self.reservation_id


@dataclass(frozen=True, slots=True, kw_only=True)
class Stands:
    """Nothing is to be written: what is found is the answer."""

    found: Held[Row] | None


Step: TypeAlias = Put | Remove | Stands


@dataclass(frozen=True, slots=True, kw_only=True)
class Response:
    """The other system's answer; `result_json` is its redacted body as JSON text."""

    status: int
    result_json: str = field(repr=False)


class TooLarge(Invalid):
    """The result is larger than what a row can hold (R109)."""


def reserve(found: Held[Row] | None, mine: InProgress, *, now: datetime) -> Step:
    """Take the place if it is free; else see who has it.

    Raises:
        IdempotencyKeyReused: the key stands for another request, whatever became of that (R106).
    """
    if found is None:
        return Put(row=mine, at=None)
    row = found.value
    if isinstance(row, Completed) and row.expired(now):
        return Put(row=mine, at=found.version)
    if row.fingerprint != mine.fingerprint:
        raise IdempotencyKeyReused
    return Stands(found=found)


def complete(found: Held[Row] | None, done: Completed, *, at: Version, reference: str) -> Step:
    """Write the answer into one's own reservation, which is at version `at`.

    Raises:
        OutcomeUnknown: it is not there any more as it was; somebody else decided about it.
    """
    match found:
        case Held(value=InProgress(), version=version) if version == at:
            return Put(row=done, at=at)
        case Held(value=Completed(completion_id=completion_id)) if completion_id == done.completion_id:
            return Stands(found=found)
        case _:
            raise OutcomeUnknown(_LOST, ledger_ref=reference)


def release(found: Held[Row] | None, reservation_id: str, *, at: Version, reference: str) -> Step:
    """Delete one's own reservation, which is at version `at`; gone is gone.

    Raises:
        OutcomeUnknown: it was completed, which only an operator does.
    """
    if found is None or found.value.reservation_id != reservation_id:
        return Stands(found=None)
    if found.version != at:
        raise OutcomeUnknown(_LOST, ledger_ref=reference)
    return Remove(reservation_id=reservation_id, at=at)


def withdraw(found: Held[Row] | None, reservation_id: str) -> Step:
    """Delete a reservation of which its owner never heard, and under which nothing was called."""
    if found is None or found.value.reservation_id != reservation_id:
        return Stands(found=None)
    return Remove(reservation_id=reservation_id, at=found.version)


def completed(row: InProgress, response: Response, *, completion_id: str, expires_at: datetime) -> Completed:
    """The row with its answer.

    Raises:
        TooLarge: the answer is.
    """
    size = len(response.result_json.encode())
    if size > RESULT_CEILING:
        said = f"the result has {size} bytes as JSON; a row holds {RESULT_CEILING}"
        raise TooLarge(said, fields=(FieldProblem(field="response.body", message=said),))
    return Completed(
        fingerprint=row.fingerprint,
        reservation_id=row.reservation_id,
        operation_id=row.operation_id,
        trace_id=row.trace_id,
        started_at=row.started_at,
        max_until=row.max_until,
        completion_id=completion_id,
        response_status=response.status,
        result_json=response.result_json,
        expires_at=expires_at,
    )


_LOST = "the row is not as this call left it: an operator may have decided about it"
