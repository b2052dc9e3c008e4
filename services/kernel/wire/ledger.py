"""Messages about rows of the idempotency ledger, and an operator's verdict on one."""

from enum import StrEnum
from typing import Annotated

from pydantic import AfterValidator, Field, JsonValue
from pydantic_core import PydanticCustomError

from services.kernel.wire.audit import AuditEntry, AuditIdText
from services.kernel.wire.model import Moment, PageQuery, Wire

COLLECTION = r"anvil_idempotency_[0-9a-f]{16}"
DOCUMENT = r"[0-9a-f]{64}"
REFERENCE = rf"firestore/{COLLECTION}/{DOCUMENT}"
"""Where a row is, as Firestore has it, also where another store stands in (R133)."""

Sha256Text = Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]


def _visible(text: str) -> str:
    """
    Raises:
        PydanticCustomError: whoever reads it sees nothing.
    """
    if not any(character.isprintable() and not character.isspace() for character in text):
        raise PydanticCustomError("blank", "has no visible character")
    return text


Reason = Annotated[str, Field(min_length=1, max_length=2000), AfterValidator(_visible)]


class RowStatus(StrEnum):
    IN_PROGRESS = "in_progress"
    COMPLETED = "completed"


class LedgerRow(Wire):
    """A row as people see it: never a key, a caller or a result.

    `version` is the ETag that a verdict has to name. `fingerprint` is the first 12 hex characters. No verdict before
    `max_until`, when every attempt has surely ended; that it is past proves nothing.
    """

    ledger_ref: str
    status: RowStatus
    version: str
    operation: str
    trace_id: str | None
    fingerprint: str
    started_at: Moment
    max_until: Moment
    response_status: int | None = None
    result_bytes: int | None = None
    expires_at: Moment | None = None


class LedgerRowView(LedgerRow):
    """With what operators did and noted about it, newest first."""

    history: tuple[AuditEntry, ...] = ()


class LedgerQuery(PageQuery):
    """`older_than` filters by `startedAt`, for reading: age never settles anything (R111)."""

    status: RowStatus | None = None
    older_than: Moment | None = None


class SettledResponse(Wire):
    """The other system's answer, exactly (R136)."""

    status: int = Field(ge=100, le=599)
    body: JsonValue


class Note(Wire):
    """What an operator found out; it does not touch the row."""

    evidence_sha256: Sha256Text | None = None
    reason: Reason


class ReleaseRow(Wire):
    """The other system provably did not act: the row is deleted, and its key is free again (R135)."""

    evidence_sha256: Sha256Text
    reason: Reason


class CompleteRow(ReleaseRow):
    """The other system provably acted: from now on its answer is replayed (R136)."""

    response: SettledResponse


class Settled(Wire):
    """What became of it: `row` is null once it is released; `audit_id` is where it is written down."""

    ledger_ref: str
    row: LedgerRow | None
    audit_id: str


# Ingress to coordinator. `if_version` is what If-Match said, `audit_id` the caller's own fresh id, so that asking again
# finds itself applied.


class NoteAs(Note):
    if_version: str
    audit_id: AuditIdText
    actor: str


class ReleaseRowAs(ReleaseRow):
    if_version: str
    audit_id: AuditIdText
    actor: str


class CompleteRowAs(CompleteRow):
    if_version: str
    audit_id: AuditIdText
    actor: str
