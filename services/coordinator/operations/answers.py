"""What a caller is told of a call that nothing has to be kept of.

Pure.
"""

from collections.abc import Sequence

from services.coordinator.operations.model import Operation
from services.coordinator.operations.outcome import Attempt, last_answer, was_sent
from services.kernel.errors import Ambiguous, AnvilError, OperationOutcomeUnknown, OutcomeUnknown, UpstreamUnavailable
from services.kernel.wire.audit import AuditOutcome
from services.kernel.wire.operations import Executed


def passed_on(attempts: Sequence[Attempt], *, repeatable: bool) -> Executed:
    """The last answer that came, whatever it says.

    Raises:
        UpstreamUnavailable: nothing was sent.
        Ambiguous: no answer came, and asking again is safe.
        OperationOutcomeUnknown: no answer came, and asking again may do it twice.
    """
    answer = last_answer(attempts)
    if answer is not None:
        return Executed(status=answer.status, result=answer.result, replayed=False)
    if not was_sent(attempts):
        raise UpstreamUnavailable("the other system cannot be reached; nothing was sent")
    raise unanswered(repeatable=repeatable)


def unanswered(*, repeatable: bool) -> AnvilError:
    """The error for a request that may have had its effect."""
    if repeatable:
        return Ambiguous("no answer came from the other system; it may have acted, and asking again is safe")
    return OperationOutcomeUnknown(
        "no answer came from the other system; it may have acted, and asking again may do it twice"
    )


def unsettled(reference: str) -> OutcomeUnknown:
    """The error for a row that stays because nobody knows what its call did."""
    said = "it is not known whether the other system acted; the outcome may need reconciliation"
    return OutcomeUnknown(said, ledger_ref=reference)


def concluded(operation: Operation, ended: Executed | AnvilError) -> tuple[AuditOutcome, str | None]:
    """How an execution ended, for the audit, with the code of what it was not: a call of its own, or a success."""
    match ended:
        case Executed(replayed=True):
            return AuditOutcome.DONE, "replayed"
        case Executed(status=status) if status in operation.success:
            return AuditOutcome.DONE, None
        case Executed(status=status) if status in operation.proves_no_effect:
            return AuditOutcome.REFUSED, f"upstream_{status}"
        case Executed(status=status):
            return AuditOutcome.UNKNOWN, f"upstream_{status}"
        case Ambiguous() | OutcomeUnknown() | OperationOutcomeUnknown():
            return AuditOutcome.UNKNOWN, ended.code
        case AnvilError():
            return AuditOutcome.REFUSED, ended.code
