"""An operator's verdict on a row whose outcome nobody knows.

Pure. A verdict names the version that was looked at, and nothing else gives a right to one: no age, no force (R134).
Before `max_until` a call that the row stands for may still be running, and there is nothing to judge yet.
"""

from dataclasses import dataclass
from datetime import datetime
from typing import Self

from services.coordinator.ledger import keys
from services.coordinator.ledger.rows import Completed, InProgress, Put, Remove, Response, Row, Stands, Step, completed
from services.coordinator.records.table import Held
from services.kernel.errors import AlreadySettled, AttemptRunning, NotFound, StaleVersion
from services.kernel.ports import Version
from services.kernel.wire.model import rfc3339


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """That it happened, with the answer. Its identity is all that it says, so that saying it again is the same."""

    reference: str
    at: Version
    response: Response
    completion_id: str

    @classmethod
    def of(cls, response: Response, *, at: Version, reference: str) -> Self:
        id_ = keys.verdict_id(
            reference=reference, if_version=at, status=response.status, result_json=response.result_json
        )
        return cls(reference=reference, at=at, response=response, completion_id=id_)


def complete(found: Held[Row] | None, verdict: Verdict, *, now: datetime, expires_at: datetime) -> Step:
    """The other system provably acted: its answer is replayed from now on (R136).

    Raises:
        NotFound, StaleVersion, AlreadySettled, AttemptRunning: see `unsettled`.
        TooLarge: no row could hold the answer.
    """
    match found:
        case Held(value=Completed(completion_id=id_)) if id_ == verdict.completion_id:
            return Stands(found=found)
        case _:
            row = unsettled(found, at=verdict.at, now=now, reference=verdict.reference)
            done = completed(row, verdict.response, completion_id=verdict.completion_id, expires_at=expires_at)
            return Put(row=done, at=verdict.at)


def release(found: Held[Row] | None, *, at: Version, now: datetime, reference: str) -> Step:
    """The other system provably did not act: the key is free again (R135).

    Raises:
        NotFound, StaleVersion, AlreadySettled, AttemptRunning: see `unsettled`.
    """
    row = unsettled(found, at=at, now=now, reference=reference)
    return Remove(reservation_id=row.reservation_id, at=at)


def unsettled(found: Held[Row] | None, *, at: Version, now: datetime, reference: str) -> InProgress:
    """The row, if there is something to decide about it, and it is as it was looked at.

    Raises:
        NotFound: there is no such row.
        StaleVersion: it changed since; the detail says what it is now.
        AlreadySettled: it is completed.
        AttemptRunning: a call may still be running.
    """
    if found is None:
        raise NotFound("there is no such row")
    row = found.value
    if found.version != at:
        state = "completed" if isinstance(row, Completed) else "in progress"
        said = f"the row is {state} at version {found.version}, not at {at}; nothing was changed"
        raise StaleVersion(said, ledger_ref=reference)
    if isinstance(row, Completed):
        raise AlreadySettled(ledger_ref=reference)
    if now <= row.max_until:
        said = f"a call may be running until {rfc3339(row.max_until)}; nothing is settled before"
        raise AttemptRunning(said, ledger_ref=reference)
    return row
