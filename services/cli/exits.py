"""How the command ends: the one place that turns what happened into an exit code."""

from enum import IntEnum

from services.kernel.errors import (
    Ambiguous,
    AnvilError,
    Conflict,
    Forbidden,
    IdempotencyInProgress,
    Invalid,
    NotFound,
    OperationOutcomeUnknown,
    OutcomeUnknown,
    PreconditionFailed,
    QueueFull,
    QueueFullForNow,
    StaleVersion,
    Transient,
    Unauthenticated,
    WebhookChanged,
)
from services.kernel.runs import Status


class Exit(IntEnum):
    OK = 0
    ERROR = 1
    USAGE = 2
    STOPPED = 3
    DENIED = 4
    RUN_FAILED = 5
    NOT_FOUND = 6
    STALE = 7
    OUTCOME_UNKNOWN = 8
    QUEUE_FULL = 9
    TRY_LATER = 75
    INTERRUPTED = 130


class Usage(Invalid):
    """The command line, or a setting that it leans on, is not understood; says what was expected."""

    code = "usage"


class Stopped(Conflict):
    """It was not done, or not waited for any longer."""

    code = "stopped"


def of_error(error: AnvilError) -> Exit:
    """The exit code for a failure. A read whose answer got lost is never `Ambiguous` here: it changed nothing."""
    match error:
        case Stopped():
            return Exit.STOPPED
        case Invalid():
            return Exit.USAGE
        case Unauthenticated() | Forbidden():
            return Exit.DENIED
        case NotFound():
            return Exit.NOT_FOUND
        case WebhookChanged() | PreconditionFailed() | StaleVersion():
            return Exit.STALE
        case QueueFull() | QueueFullForNow():
            return Exit.QUEUE_FULL
        case Ambiguous() | OutcomeUnknown() | IdempotencyInProgress() | OperationOutcomeUnknown():
            return Exit.OUTCOME_UNKNOWN
        case Transient():
            return Exit.TRY_LATER
        case _:
            return Exit.ERROR


def of_run(status: Status) -> Exit:
    """The exit code for a run that was waited for."""
    match status:
        case Status.PASSED:
            return Exit.OK
        case Status.FAILED:
            return Exit.RUN_FAILED
        case Status.CANCELED:
            return Exit.STOPPED
        case Status.QUEUED | Status.STARTING | Status.RUNNING | Status.CANCEL_REQUESTED | Status.CANCELING:
            return Exit.STOPPED
