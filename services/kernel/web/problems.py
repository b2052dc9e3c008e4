"""Errors as RFC 9457 problem documents: the only place that knows status codes."""

from collections.abc import Mapping
from datetime import timedelta
from http import HTTPStatus

import orjson
from starlette.responses import Response

from services.kernel import errors, trace
from services.kernel.errors import AnvilError

MEDIA_TYPE = "application/problem+json"

STATUS: dict[type[AnvilError], int] = {
    errors.AnvilError: 500,
    errors.Transient: 503,
    errors.Permanent: 500,
    errors.TooManyRequests: 429,
    errors.RequestTimeout: 408,
    errors.Invalid: 400,
    errors.PayloadTooLarge: 413,
    errors.UnsupportedMediaType: 415,
    errors.Unauthenticated: 401,
    errors.InvalidSignature: 401,
    errors.Forbidden: 403,
    errors.RepositoryMismatch: 403,
    errors.NotFound: 404,
    errors.MethodNotAllowed: 405,
    errors.Conflict: 409,
    errors.StaleVersion: 412,
    errors.IdempotencyKeyReused: 422,
    errors.VersionRequired: 428,
}
"""By the nearest class that stands here. What only our own code can have done wrong is a 500."""

_RETRY_AFTER: dict[type[AnvilError], timedelta] = {
    errors.Transient: timedelta(seconds=5),
    errors.QueueFullForNow: timedelta(seconds=60),
}

_HEADERS: dict[type[AnvilError], Mapping[str, str]] = {
    errors.AnvilError: {},
    errors.Unauthenticated: {"WWW-Authenticate": "Bearer"},
    errors.RequestTimeout: {"Connection": "close"},
}


def status(kind: type[AnvilError]) -> int:
    return next(STATUS[each] for each in kind.__mro__ if each in STATUS)


def problem(error: AnvilError, *, headers: Mapping[str, str] | None = None) -> Response:
    """The answer that says `error`. An error of our own making is told as `internal`, without its detail."""
    number = status(type(error))
    told = error if number != HTTPStatus.INTERNAL_SERVER_ERROR else AnvilError("Something went wrong here.")
    return Response(
        orjson.dumps(_document(told, number)),
        status_code=number,
        media_type=MEDIA_TYPE,
        headers={"Cache-Control": "no-store", **_headers(told), **(headers or {})},
    )


def retry_after(error: AnvilError) -> timedelta | None:
    """When to try again; None for what never gets better."""
    kinds = (kind for kind in type(error).__mro__ if kind in _RETRY_AFTER)
    return error.retry_after or next((_RETRY_AFTER[kind] for kind in kinds), None)


def _document(error: AnvilError, number: int) -> dict[str, object]:
    current, wait = trace.current(), retry_after(error)
    document: dict[str, object] = {
        "type": "about:blank",
        "title": HTTPStatus(number).phrase,
        "status": number,
        "detail": error.detail,
        "code": error.code,
        "retryable": error.retryable,
        "traceId": current.trace_id if current else None,
    }
    if error.fields:
        document["errors"] = [{"field": each.field, "message": each.message} for each in error.fields]
    if error.ledger_ref is not None:
        document["ledgerRef"] = error.ledger_ref
    if wait is not None:
        document["retryAfterSeconds"] = _seconds(wait)
    return document


def _headers(error: AnvilError) -> dict[str, str]:
    wait = retry_after(error)
    own = next(_HEADERS[kind] for kind in type(error).__mro__ if kind in _HEADERS)
    return {**own, **({} if wait is None else {"Retry-After": str(_seconds(wait))})}


def _seconds(wait: timedelta) -> int:
    """Whole seconds, rounded up."""
    return -(-wait // timedelta(seconds=1))
