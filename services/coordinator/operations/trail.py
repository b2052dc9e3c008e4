"""What an execution asks of the audit."""

from typing import Protocol

from services.kernel.ids import AuditId
from services.kernel.wire.audit import Act, AuditOutcome


class Trail(Protocol):
    async def intend(self, actor: str, act: Act, target: str) -> AuditId:
        """Write down that somebody is about to act.

        Raises:
            Unavailable: it is not written.
            Ambiguous: perhaps it is.
        """
        ...

    async def conclude(self, audit_id: AuditId, outcome: AuditOutcome, code: str | None = None) -> None:
        """Write down how it ended, as far as that goes: without it the intent stays, which says where to look.

        Raises:
            Unavailable, Ambiguous: it is not, or perhaps, written.
        """
        ...
