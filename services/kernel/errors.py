"""Everything that can go wrong, as facts.

    AnvilError
    ├── Transient                     the same request may succeed later
    │   ├── Unavailable               the other side is away; nothing was applied
    │   │   ├── Contended             other commands won every race within the deadline; nothing was applied
    │   │   ├── LedgerUnavailable     the idempotency ledger is away; no other system was called
    │   │   └── UpstreamUnavailable   another system cannot be reached, or not be called; nothing was sent
    │   ├── Ambiguous                 no answer came; it was perhaps applied: read back, then decide again
    │   ├── Busy                      a runner that already has a run
    │   ├── TooManyRequests           a stranger's bad signatures; never capacity (R48)
    │   └── QueueFullForNow           a verified webhook at the cap (R46)
    └── Permanent                     the same request gets the same answer
        ├── Invalid …                 the request itself is wrong
        ├── Unauthenticated, Forbidden, InvalidSignature, RepositoryMismatch
        ├── NotFound
        ├── StaleVersion, VersionRequired   what was changed is not, or not said to be, as it was last seen
        └── Conflict …                it does not fit the present state
            └── LedgerConflict …      another system may have acted; `ledger_ref` names the row that knows

The two branches are the whole retry policy. `code` is what a client sees and never changes; only `kernel.web` knows
status codes. A message names the thing, what was found and what was expected, and never a secret.
"""

from dataclasses import dataclass
from datetime import timedelta
from typing import ClassVar


@dataclass(frozen=True, slots=True, kw_only=True)
class FieldProblem:
    """One field of a request that was refused, named as the client wrote it."""

    field: str
    message: str


class AnvilError(Exception):
    """A failure with a stable `code`; its message is for people."""

    code: ClassVar[str] = "internal"
    retryable: ClassVar[bool] = False

    def __init__(
        self,
        detail: str = "",
        *,
        fields: tuple[FieldProblem, ...] = (),
        retry_after: timedelta | None = None,
        ledger_ref: str | None = None,
    ) -> None:
        super().__init__(detail or self.summary())
        self.detail = detail or self.summary()
        self.fields = fields
        self.retry_after = retry_after
        self.ledger_ref = ledger_ref

    @classmethod
    def summary(cls) -> str:
        """The first line of the class's docstring: what happened, for people."""
        return (cls.__doc__ or cls.code).strip().splitlines()[0]


class Transient(AnvilError):
    """The same request may succeed later."""

    retryable = True


class Unavailable(Transient):
    """A part that this needs is away; nothing was changed."""

    code = "unavailable"


class Contended(Unavailable):
    """Other changes won every race within the deadline; nothing was changed."""


class LedgerUnavailable(Unavailable):
    """The idempotency ledger is away or not configured; no other system was called."""

    code = "ledger_unavailable"


class UpstreamUnavailable(Unavailable):
    """The other system cannot be reached; nothing was sent."""

    code = "upstream_unavailable"


class Ambiguous(Transient):
    """No answer came in time; it may or may not have happened, and asking again is safe."""

    code = "unavailable"


class Busy(Transient):
    """This runner already has a run."""

    code = "busy"


class TooManyRequests(Transient):
    """Too many bad signatures reached this instance."""

    code = "too_many_requests"


class QueueFullForNow(Transient):
    """The project's queue is full; the delivery is recorded and may be sent again."""

    code = "project_queue_full"


class Permanent(AnvilError):
    """The same request gets the same answer."""


class Invalid(Permanent):
    """The request is not understood."""

    code = "invalid_request"


class InvalidDeliveryId(Invalid):
    """The delivery id is missing, repeated, too long or not printable."""

    code = "invalid_delivery_id"


class InvalidPayload(Invalid):
    """The body is not a usable payload of this provider."""

    code = "invalid_payload"


class InvalidRepositoryUrl(Invalid):
    """The repository URL cannot be used."""

    code = "invalid_repository_url"


class SecretNotAllowed(Invalid):
    """A secret is set on create or rotate-secret only, never on update."""

    code = "secret_not_allowed"


class WeakSecret(Invalid):
    """A webhook secret has at least 16 bytes."""

    code = "weak_secret"


class ConfirmationRequired(Invalid):
    """This cannot be undone and needs `confirm: true`."""

    code = "confirmation_required"


class IdempotencyKeyRequired(Invalid):
    """This operation needs an Idempotency-Key."""

    code = "idempotency_key_required"


class OperationNotApproved(Invalid):
    """This operation is not approved."""

    code = "operation_not_approved"


class PayloadTooLarge(Permanent):
    """The body is larger than this service takes."""

    code = "payload_too_large"


class UnsupportedMediaType(Permanent):
    """The body's type or encoding is not one this service takes."""

    code = "unsupported_media_type"


class RequestTimeout(Transient):
    """The body did not arrive in time."""

    code = "request_timeout"


class Unauthenticated(Permanent):
    """No valid identity token came with the request."""

    code = "unauthenticated"


class InvalidSignature(Permanent):
    """The delivery is not signed with this webhook's secret."""

    code = "invalid_signature"


class Forbidden(Permanent):
    """The caller's role does not allow this."""

    code = "forbidden"


class RepositoryMismatch(Permanent):
    """The delivery is about another repository than the project's."""

    code = "webhook_repo_mismatch"


class NotFound(Permanent):
    """There is no such thing, or not for this caller."""

    code = "not_found"


class MethodNotAllowed(Permanent):
    """This path does not take that method."""

    code = "method_not_allowed"


class Conflict(Permanent):
    """It does not fit the present state."""

    code = "conflict"


class SlugTaken(Conflict):
    """Another project has this slug."""

    code = "project_slug_taken"


class ProjectBusy(Conflict):
    """The project still has open runs."""

    code = "project_busy"


class QueueFull(Conflict):
    """The project's queue is full; nothing was created."""

    code = "project_queue_full"


class NotRerunnable(Conflict):
    """Only a finished run can be run again."""

    code = "not_rerunnable"


class WebhookChanged(Conflict):
    """The webhook is not at the version that was named."""

    code = "webhook_changed"


class StaleVerification(Conflict):
    """The webhook changed after it verified this delivery; verify again (C11)."""

    code = "stale_webhook_verification"


class OwnershipLost(Conflict):
    """This attempt does not own the run, or no longer."""

    code = "ownership_lost"


class LedgerConflict(Conflict):
    """Another system may have acted; the ledger row that `ledger_ref` names stands for it."""

    code = "ledger_conflict"


class OutcomeUnknown(LedgerConflict):
    """It is not known whether the other system acted; an operator has to find out."""

    code = "idempotency_outcome_unknown"


class IdempotencyInProgress(LedgerConflict):
    """A request with this key is running, or its outcome is not known."""

    code = "idempotency_in_progress"


class AttemptRunning(LedgerConflict):
    """A call that this row stands for may still be running; nothing is settled before it has surely ended."""

    code = "ledger_attempt_running"


class AlreadySettled(LedgerConflict):
    """This row is completed; there is nothing to settle."""

    code = "ledger_already_settled"


class OperationOutcomeUnknown(Conflict):
    """It is not known whether the other system acted, and nothing guards this operation against being repeated."""

    code = "operation_outcome_unknown"


class StaleVersion(Permanent):
    """It changed since it was last seen; nothing was changed."""

    code = "stale_version"


class VersionRequired(Permanent):
    """If-Match must say at which version it was last seen."""

    code = "version_required"


class IdempotencyKeyReused(Permanent):
    """This idempotency key already stands for another request."""

    code = "idempotency_key_reused"


class TaskRejected(Permanent):
    """The task queue refused the task itself; sending it again unchanged is useless."""

    code = "task_rejected"


class PreconditionFailed(Permanent):
    """A document is not at the version that a write named; nothing of the batch was applied."""

    code = "precondition_failed"


class AlreadyExists(Permanent):
    """A document that a write would create exists; nothing of the batch was applied."""

    code = "already_exists"
