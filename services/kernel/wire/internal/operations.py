"""Approved operations, the ledger behind them and the audit, asked for by the console."""

from services.kernel.endpoint import Audience, Endpoint
from services.kernel.errors import (
    AlreadySettled,
    AttemptRunning,
    ConfirmationRequired,
    IdempotencyInProgress,
    IdempotencyKeyRequired,
    IdempotencyKeyReused,
    LedgerUnavailable,
    NotFound,
    OperationNotApproved,
    OperationOutcomeUnknown,
    OutcomeUnknown,
    StaleVersion,
    UpstreamUnavailable,
)
from services.kernel.wire import audit, ledger, operations
from services.kernel.wire.model import Empty, Page, PageQuery

LIST_OPERATIONS = Endpoint(
    method="GET",
    path="/v1/operations",
    summary="The operations of the catalogue, in its order",
    request=PageQuery,
    response=Page[operations.Operation],
    audience=Audience.CONSOLE,
)
EXECUTE_OPERATION = Endpoint(
    method="POST",
    path="/v1/operations/{operation}:execute",
    summary="Call another system, at most once for a key where its mode says so",
    request=operations.ExecuteOperation,
    response=operations.Executed,
    audience=Audience.CONSOLE,
    errors=(
        NotFound,
        OperationNotApproved,
        ConfirmationRequired,
        IdempotencyKeyRequired,
        IdempotencyKeyReused,
        IdempotencyInProgress,
        OutcomeUnknown,
        OperationOutcomeUnknown,
        LedgerUnavailable,
        UpstreamUnavailable,
    ),
)
LIST_LEDGER = Endpoint(
    method="GET",
    path="/v1/ledger",
    summary="Rows of the ledger, newest first",
    request=ledger.LedgerQuery,
    response=Page[ledger.LedgerRow],
    audience=Audience.CONSOLE,
    errors=(LedgerUnavailable,),
)
GET_LEDGER_ROW = Endpoint(
    method="GET",
    path="/v1/ledger/{collection}/{document}",
    summary="One row, with what operators did about it",
    request=Empty,
    response=ledger.LedgerRowView,
    audience=Audience.CONSOLE,
    errors=(NotFound, LedgerUnavailable),
)
COMPLETE_LEDGER_ROW = Endpoint(
    method="POST",
    path="/v1/ledger/{collection}/{document}:complete",
    summary="The other system acted: replay this answer from now on",
    request=ledger.CompleteRowAs,
    response=ledger.Settled,
    audience=Audience.CONSOLE,
    errors=(NotFound, StaleVersion, AttemptRunning, AlreadySettled, LedgerUnavailable),
)
RELEASE_LEDGER_ROW = Endpoint(
    method="POST",
    path="/v1/ledger/{collection}/{document}:release",
    summary="The other system did not act: let the key be used again",
    request=ledger.ReleaseRowAs,
    response=ledger.Settled,
    audience=Audience.CONSOLE,
    errors=(NotFound, StaleVersion, AttemptRunning, AlreadySettled, LedgerUnavailable),
)
NOTE_LEDGER_ROW = Endpoint(
    method="POST",
    path="/v1/ledger/{collection}/{document}:note",
    summary="Write down what was found out; the row stays as it is",
    request=ledger.NoteAs,
    response=ledger.Settled,
    audience=Audience.CONSOLE,
    errors=(NotFound, StaleVersion, LedgerUnavailable),
)
LIST_AUDIT = Endpoint(
    method="GET",
    path="/v1/audit",
    summary="Who did what, newest first",
    request=audit.AuditQuery,
    response=Page[audit.AuditEntry],
    audience=Audience.CONSOLE,
)
