"""Who did what (`audit/{id}`). Kept for good, and never changed once it says how the act ended."""

from dataclasses import dataclass
from datetime import datetime

from services.coordinator.records.table import Table
from services.kernel.ids import AuditId
from services.kernel.wire.audit import Act, AuditOutcome


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One act. Without `outcome` it was intended, and nobody wrote down how it ended: its target shows it."""

    audit_id: AuditId
    at: datetime
    actor: str
    act: Act
    target: str
    reason: str | None = None
    evidence_sha256: str | None = None
    outcome: AuditOutcome | None = None
    code: str | None = None
    concluded_at: datetime | None = None


AUDIT = Table("audit", Entry, schema=1)
