"""What Firestore's refusals mean: what was certainly not applied, what perhaps was, and what an operator must mend."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

import pytest
from grpc import StatusCode
from structlog.testing import capture_logs

from services.kernel.adapters.clock import SystemClock
from services.kernel.adapters.firestore import FirestoreStore
from services.kernel.adapters.firestore_database import Database
from services.kernel.errors import (
    AlreadyExists,
    Ambiguous,
    AnvilError,
    Contended,
    Invalid,
    PreconditionFailed,
    Unavailable,
)
from services.kernel.ports import Create, Index, Query, Ref, Store
from tests.unit.kernel.refusing import Refusing, refusing

pytestmark = [pytest.mark.anyio, pytest.mark.usefixtures("one_event_loop")]

COMMITTED = {
    StatusCode.ABORTED: Contended,
    StatusCode.ALREADY_EXISTS: AlreadyExists,
    StatusCode.CANCELLED: Ambiguous,
    StatusCode.DATA_LOSS: Ambiguous,
    StatusCode.DEADLINE_EXCEEDED: Ambiguous,
    StatusCode.FAILED_PRECONDITION: PreconditionFailed,
    StatusCode.INTERNAL: Ambiguous,
    StatusCode.INVALID_ARGUMENT: Invalid,
    StatusCode.NOT_FOUND: PreconditionFailed,
    StatusCode.OUT_OF_RANGE: Invalid,
    StatusCode.PERMISSION_DENIED: Unavailable,
    StatusCode.RESOURCE_EXHAUSTED: Unavailable,
    StatusCode.UNAUTHENTICATED: Unavailable,
    StatusCode.UNAVAILABLE: Ambiguous,
    StatusCode.UNIMPLEMENTED: Unavailable,
    StatusCode.UNKNOWN: Ambiguous,
}

REFUSALS = [
    (StatusCode.PERMISSION_DENIED, "Missing or insufficient permissions."),
    (StatusCode.UNAUTHENTICATED, "Request had invalid authentication credentials."),
    (StatusCode.NOT_FOUND, "The database ledger does not exist for project demo-p"),
    (StatusCode.UNIMPLEMENTED, ""),
]
NO_INDEX = (StatusCode.FAILED_PRECONDITION, "The query requires an index.")


@asynccontextmanager
async def answered(status: StatusCode, detail: str = "") -> AsyncGenerator[tuple[Store, Refusing]]:
    async with refusing(status, detail) as server:
        database = Database(project="demo-p", id="ledger", emulator=server.address)
        store = FirestoreStore(database, namespace="n", indexes=[Index(collection="c")], clock=SystemClock())
        yield store, server
        await store.close()


async def write(store: Store) -> object:
    return await store.commit([Create(Ref("c", "a"), {"nonce": "n"})])


async def read(store: Store) -> object:
    return await store.get([Ref("c", "a")])


async def ask(store: Store) -> object:
    return await store.query(Query(collection="c"))


@pytest.mark.parametrize(("status", "expected"), COMMITTED.items(), ids=lambda value: getattr(value, "name", ""))
async def test_what_a_commits_status_means_and_that_it_is_sent_once(
    status: StatusCode, expected: type[AnvilError]
) -> None:
    async with answered(status) as (store, server):
        with pytest.raises(AnvilError) as raised:
            await write(store)

    assert type(raised.value) is expected
    assert server.calls == ["commit"]


@pytest.mark.parametrize("status", COMMITTED, ids=lambda status: status.name)
async def test_a_read_that_is_refused_has_nothing_to_be_unsure_about(status: StatusCode) -> None:
    expected = Invalid if status is StatusCode.INVALID_ARGUMENT else Unavailable
    async with answered(status) as (store, server):
        with pytest.raises(expected):
            await read(store)
        with pytest.raises(expected):
            await ask(store)

    tries = 3 if status is StatusCode.UNAVAILABLE else 1
    assert server.calls == ["read"] * 2 * tries


@pytest.mark.parametrize(("status", "detail"), REFUSALS, ids=lambda value: getattr(value, "name", ""))
async def test_a_database_that_is_missing_or_forbids_is_unavailable_and_named_in_the_log(
    status: StatusCode, detail: str
) -> None:
    async with answered(status, detail) as (store, _):
        for call, operation in ((write, "commit"), (read, "read"), (ask, "query")):
            with capture_logs() as lines, pytest.raises(Unavailable) as raised:
                await call(store)

            (line,) = lines
            assert line["log_level"] == "error"
            assert line["target"] == "projects/demo-p/databases/ledger"
            assert (line["operation"], line["code"]) == (operation, status.name)
            assert detail in line["detail"]
            assert "demo-p" not in raised.value.detail, "what a client sees does not name the database"


async def test_a_query_that_lacks_its_index_is_unavailable_and_named_in_the_log() -> None:
    async with answered(*NO_INDEX) as (store, _):
        with capture_logs() as lines, pytest.raises(Unavailable):
            await ask(store)

    assert [line["code"] for line in lines] == ["FAILED_PRECONDITION"]


async def test_a_busy_database_is_not_reported_as_a_broken_deployment() -> None:
    async with answered(StatusCode.RESOURCE_EXHAUSTED) as (store, _):
        with capture_logs() as lines, pytest.raises(Unavailable):
            await write(store)

    assert lines == []
