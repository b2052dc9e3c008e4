"""Approved operations, the ledger behind them and the audit.

They belong to no project: what is needed is a role in all of them. What the coordinator may answer, people are told.
"""

from services.kernel.endpoint import Audience, Endpoint
from services.kernel.errors import (
    LedgerUnavailable,
    NotFound,
    VersionRequired,
)
from services.kernel.wire import audit, internal, ledger, operations
from services.kernel.wire.model import Empty, Page, PageQuery

LIST_OPERATIONS = Endpoint(
    method="GET",
    path="/api/private/operations",
    summary="The operations of the catalogue, in its order",
    request=PageQuery,
    response=Page[operations.Operation],
    audience=Audience.VIEWER,
)
EXECUTE_OPERATION = Endpoint(
    method="POST",
    path="/api/private/operations/{operation}:execute",
    summary="Call another system, at most once for a key where its mode says so",
    request=operations.Execute,
    response=operations.Executed,
    audience=Audience.OPERATOR,
    errors=internal.EXECUTE_OPERATION.errors,
    headers=("Idempotency-Key",),
)
LIST_LEDGER = Endpoint(
    method="GET",
    path="/api/private/ledger",
    summary="Rows of the ledger, newest first",
    request=ledger.LedgerQuery,
    response=Page[ledger.LedgerRow],
    audience=Audience.OPERATOR,
    errors=(LedgerUnavailable,),
)
GET_LEDGER_ROW = Endpoint(
    method="GET",
    path="/api/private/ledger/{collection}/{document}",
    summary="One row, with what operators did about it",
    request=Empty,
    response=ledger.LedgerRowView,
    audience=Audience.OPERATOR,
    errors=(NotFound, LedgerUnavailable),
)
COMPLETE_LEDGER_ROW = Endpoint(
    method="POST",
    path="/api/private/ledger/{collection}/{document}:complete",
    summary="The other system acted: replay this answer from now on",
    request=ledger.CompleteRow,
    response=ledger.Settled,
    audience=Audience.OPERATOR,
    errors=(VersionRequired, *internal.COMPLETE_LEDGER_ROW.errors),
    headers=("If-Match",),
)
RELEASE_LEDGER_ROW = Endpoint(
    method="POST",
    path="/api/private/ledger/{collection}/{document}:release",
    summary="The other system did not act: let the key be used again",
    request=ledger.ReleaseRow,
    response=ledger.Settled,
    audience=Audience.OPERATOR,
    errors=(VersionRequired, *internal.RELEASE_LEDGER_ROW.errors),
    headers=("If-Match",),
)
NOTE_LEDGER_ROW = Endpoint(
    method="POST",
    path="/api/private/ledger/{collection}/{document}:note",
    summary="Write down what was found out; the row stays as it is",
    request=ledger.Note,
    response=ledger.Settled,
    audience=Audience.OPERATOR,
    errors=(VersionRequired, *internal.NOTE_LEDGER_ROW.errors),
    headers=("If-Match",),
)
LIST_AUDIT = Endpoint(
    method="GET",
    path="/api/private/audit",
    summary="Who did what, newest first",
    request=audit.AuditQuery,
    response=Page[audit.AuditEntry],
    audience=Audience.ADMIN,
)
