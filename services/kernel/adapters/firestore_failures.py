"""What a failed call to Firestore means: each status as the store's own error, told from what was perhaps applied.

What Firestore says goes to the log; the errors, which clients may see, do not name the database.

A commit's status says that nothing was applied only where the server decided so: its conditions failed, it may not or
cannot serve the call, it gave up a lock (`ABORTED`). All others may come from a connection that broke after the commit
was applied, `UNAVAILABLE` too.
"""

import re
from typing import Any, cast

from google.api_core.exceptions import GoogleAPICallError
from grpc import StatusCode

from services.kernel.errors import (
    AlreadyExists,
    Ambiguous,
    AnvilError,
    Contended,
    Invalid,
    PreconditionFailed,
    Unavailable,
)
from services.kernel.log import get_logger

log = get_logger(__name__)

_REFUSALS = frozenset({StatusCode.PERMISSION_DENIED, StatusCode.UNAUTHENTICATED, StatusCode.UNIMPLEMENTED})
"""The deployment is wrong, not the request: the service is not ready until somebody mends it."""
_READ_REFUSALS = _REFUSALS | {StatusCode.NOT_FOUND, StatusCode.FAILED_PRECONDITION, StatusCode.INVALID_ARGUMENT}

_NO_DATABASE = re.compile(r"database .* does not exist", re.IGNORECASE)


def of_read(error: GoogleAPICallError, *, operation: str, database: str) -> AnvilError:
    """Why nothing could be read.

    A document that is missing is no failure, so what is not found is the database; and what is not fulfilled, as a
    read has no condition, is an index that the deployment lacks or a database of another kind.
    """
    status = status_of(error)
    if status in _READ_REFUSALS:
        _report(error, operation=operation, database=database)
    if status is StatusCode.INVALID_ARGUMENT:
        return Invalid(f"Firestore does not understand a {operation}.")
    return Unavailable(f"Firestore answered {status.name} to a {operation}.")


def of_commit(error: GoogleAPICallError, *, database: str) -> AnvilError:
    """What became of a commit that was sent."""
    status = status_of(error)
    match status:
        case StatusCode.ALREADY_EXISTS:
            return AlreadyExists("A document to be created exists.")
        case StatusCode.NOT_FOUND if not _NO_DATABASE.search(str(error)):
            return PreconditionFailed("A document is gone.")
        case StatusCode.FAILED_PRECONDITION:
            return PreconditionFailed("A document is not at the version named.")
        case StatusCode.ABORTED:
            return Contended("Other writers held the documents until Firestore gave up; nothing was applied.")
        case StatusCode.INVALID_ARGUMENT | StatusCode.OUT_OF_RANGE:
            _report(error, operation="commit", database=database)
            return Invalid("Firestore does not understand a commit.")
        case StatusCode.RESOURCE_EXHAUSTED:
            return Unavailable("Firestore takes no more for now.")
        case status if status in _REFUSALS or status is StatusCode.NOT_FOUND:
            _report(error, operation="commit", database=database)
            return Unavailable(f"Firestore answered {status.name} to a commit.")
        case _:
            return Ambiguous(f"Firestore answered {status.name} to a commit.")


def status_of(error: GoogleAPICallError) -> StatusCode:
    status: object = cast("Any", error).grpc_status_code
    return status if isinstance(status, StatusCode) else StatusCode.UNKNOWN


def _report(error: GoogleAPICallError, *, operation: str, database: str) -> None:
    log.error(
        "the database refuses this service",
        operation=operation,
        target=database,
        code=status_of(error).name,
        detail=str(error),
    )
