"""Messages about who did what."""

from enum import StrEnum
from typing import Annotated

from pydantic import Field

from services.kernel.ids import AUDIT_ID
from services.kernel.wire.model import Moment, PageQuery, Wire

AuditIdText = Annotated[str, Field(pattern=rf"^{AUDIT_ID}$")]


class Act(StrEnum):
    """What people do that changes something."""

    PROJECT_CREATE = "project.create"
    PROJECT_CHANGE = "project.change"
    PROJECT_DELETE = "project.delete"
    RUN_START = "run.start"
    RUN_RERUN = "run.rerun"
    RUN_CANCEL = "run.cancel"
    WEBHOOK_CREATE = "webhook.create"
    WEBHOOK_CHANGE = "webhook.change"
    WEBHOOK_ROTATE = "webhook.rotate"
    WEBHOOK_DELETE = "webhook.delete"
    OPERATION_EXECUTE = "operation.execute"
    LEDGER_COMPLETE = "ledger.complete"
    LEDGER_RELEASE = "ledger.release"
    LEDGER_NOTE = "ledger.note"


class AuditOutcome(StrEnum):
    """How an act ended. One without any was intended, and nobody wrote down how it ended: look at its target."""

    DONE = "done"
    REFUSED = "refused"
    UNKNOWN = "unknown"


class AuditEntry(Wire):
    """One act. `target` is a path such as `projects/site/webhooks/github`, or a ledger reference.

    `code` is the error of an act that was refused or whose outcome is unknown.
    """

    audit_id: str
    at: Moment
    actor: str
    act: Act
    target: str
    reason: str | None = None
    evidence_sha256: str | None = None
    outcome: AuditOutcome | None
    code: str | None = None
    concluded_at: Moment | None = None


class AuditQuery(PageQuery):
    """Only acts on this target, if one is given."""

    target: str | None = Field(default=None, max_length=1000)


# Ingress to coordinator


class Actor(Wire):
    """Who asks, where a request has nothing else to say."""

    actor: str
