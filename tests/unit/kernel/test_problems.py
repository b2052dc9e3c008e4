"""Problem documents (RFC 9457): what a client is told of an error, and what it is not."""

from collections.abc import Iterator
from datetime import timedelta

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.kernel import addresses, canonical_json, errors, runs, seal, strict_json, strict_yaml, trace
from services.kernel.errors import AnvilError, FieldProblem
from services.kernel.trace import Trace
from services.kernel.web.problems import problem

STATUSES: dict[type[AnvilError], int] = {
    errors.AnvilError: 500,
    errors.Transient: 503,
    errors.Unavailable: 503,
    errors.Contended: 503,
    errors.LedgerUnavailable: 503,
    errors.UpstreamUnavailable: 503,
    errors.Ambiguous: 503,
    errors.Busy: 503,
    errors.TooManyRequests: 429,
    errors.QueueFullForNow: 503,
    errors.Permanent: 500,
    errors.Invalid: 400,
    errors.InvalidDeliveryId: 400,
    errors.InvalidPayload: 400,
    errors.InvalidRepositoryUrl: 400,
    errors.SecretNotAllowed: 400,
    errors.WeakSecret: 400,
    errors.ConfirmationRequired: 400,
    errors.IdempotencyKeyRequired: 400,
    errors.OperationNotApproved: 400,
    strict_json.NotStrictJson: 400,
    canonical_json.NotCanonical: 400,
    addresses.NotAHost: 400,
    errors.PayloadTooLarge: 413,
    errors.UnsupportedMediaType: 415,
    errors.RequestTimeout: 408,
    errors.Unauthenticated: 401,
    errors.InvalidSignature: 401,
    errors.Forbidden: 403,
    errors.RepositoryMismatch: 403,
    errors.NotFound: 404,
    errors.MethodNotAllowed: 405,
    errors.Conflict: 409,
    errors.SlugTaken: 409,
    errors.ProjectBusy: 409,
    errors.QueueFull: 409,
    errors.NotRerunnable: 409,
    errors.WebhookChanged: 409,
    errors.StaleVerification: 409,
    errors.OwnershipLost: 409,
    errors.LedgerConflict: 409,
    errors.OutcomeUnknown: 409,
    errors.IdempotencyInProgress: 409,
    errors.AttemptRunning: 409,
    errors.AlreadySettled: 409,
    errors.OperationOutcomeUnknown: 409,
    runs.IllegalMove: 409,
    errors.StaleVersion: 412,
    errors.IdempotencyKeyReused: 422,
    errors.VersionRequired: 428,
    errors.TaskRejected: 500,
    errors.PreconditionFailed: 500,
    errors.AlreadyExists: 500,
    seal.Unsealable: 500,
    strict_yaml.Refused: 500,
}


def kernel_errors(kind: type[AnvilError] = AnvilError) -> Iterator[type[AnvilError]]:
    if kind.__module__.startswith("services.kernel."):
        yield kind
    for child in kind.__subclasses__():
        yield from kernel_errors(child)


def document(error: AnvilError) -> dict[str, object]:
    read: dict[str, object] = orjson.loads(problem(error).body)
    return read


def test_every_error_of_the_kernel_has_a_status_here() -> None:
    assert set(kernel_errors()) == set(STATUSES)


@pytest.mark.parametrize(("kind", "status"), STATUSES.items())
def test_each_error_has_its_status(kind: type[AnvilError], status: int) -> None:
    response = problem(kind())
    assert response.status_code == status
    assert response.headers["content-type"] == "application/problem+json"
    assert response.headers["cache-control"] == "no-store"


def test_a_problem_says_what_happened_in_all_its_fields() -> None:
    with trace.use(Trace(trace_id="0af7651916cd43dd8448eb211c80319c", span_id="b7ad6b7169203331")):
        assert document(errors.SlugTaken("a project named api exists")) == {
            "type": "about:blank",
            "title": "Conflict",
            "status": 409,
            "detail": "a project named api exists",
            "code": "project_slug_taken",
            "retryable": False,
            "traceId": "0af7651916cd43dd8448eb211c80319c",
        }


def test_a_problem_names_each_field() -> None:
    fields = (FieldProblem(field="a.b", message="required"), FieldProblem(field="c", message="unknown field"))
    assert document(errors.Invalid(fields=fields))["errors"] == [
        {"field": "a.b", "message": "required"},
        {"field": "c", "message": "unknown field"},
    ]


def test_a_problem_names_the_ledger_row_that_stands_for_it() -> None:
    row = f"firestore/anvil_idempotency_{'0' * 16}/{'a' * 64}"
    assert document(errors.OutcomeUnknown(ledger_ref=row))["ledgerRef"] == row
    assert "ledgerRef" not in document(errors.Conflict())


@pytest.mark.parametrize(
    ("error", "seconds"),
    [
        (errors.Unavailable(), 5),
        (errors.Contended(), 5),
        (errors.Busy(), 5),
        (errors.QueueFullForNow(), 60),
        (errors.TooManyRequests(retry_after=timedelta(milliseconds=1200)), 2),
        (errors.Unavailable(retry_after=timedelta(seconds=9)), 9),
    ],
)
def test_what_passes_says_when_to_try_again(error: AnvilError, seconds: int) -> None:
    assert problem(error).headers["retry-after"] == str(seconds)
    assert document(error)["retryAfterSeconds"] == seconds
    assert document(error)["retryable"] is True


def test_what_lasts_does_not_ask_for_another_try() -> None:
    assert "retry-after" not in problem(errors.QueueFull()).headers
    assert "retryAfterSeconds" not in document(errors.QueueFull())


def test_our_own_mistake_is_told_without_its_detail() -> None:
    told = document(errors.PreconditionFailed("projects/prj_1 is at version 7"))
    assert (told["code"], told["detail"]) == ("internal", "Something went wrong here.")


def test_a_caller_without_a_token_is_told_which_kind_to_bring() -> None:
    assert problem(errors.Unauthenticated()).headers["www-authenticate"] == "Bearer"


def test_a_provider_with_a_bad_signature_is_not_asked_for_a_token() -> None:
    assert "www-authenticate" not in problem(errors.InvalidSignature()).headers


@given(st.sampled_from(sorted(STATUSES, key=lambda kind: kind.__name__)), st.text())
def test_any_detail_makes_a_readable_document(kind: type[AnvilError], detail: str) -> None:
    assert document(kind(detail))["status"] == STATUSES[kind]
