"""What operators see of the ledger: whole lists, page by page, and never a result."""

from collections.abc import AsyncGenerator
from datetime import datetime, timedelta

import pytest

from services.coordinator.ledger.rows import Response
from services.kernel.errors import Invalid, LedgerUnavailable, Unavailable
from services.kernel.ports import Document, Ref, Replace
from services.kernel.wire.ledger import LedgerQuery, LedgerRow, RowStatus
from tests.unit.coordinator.ledger.shelf import COLLECTION, MAX_UNTIL, OK, WEEK, Shelf, document, wanted
from tests.unit.kernel.world import NOON

pytestmark = pytest.mark.anyio

SECOND = timedelta(seconds=1)
DONE, OPEN = RowStatus.COMPLETED, RowStatus.IN_PROGRESS


async def five(home: Shelf) -> None:
    """Rows 1 to 5, a second apart; the even ones are completed."""
    for number in range(1, 6):
        taken = await home.reserved(f"key-{number}")
        if number % 2 == 0:
            await home.ledger.complete(taken, OK, ttl=WEEK)
        home.clock.move(SECOND)


async def numbers(home: Shelf, query: LedgerQuery) -> list[int]:
    """The rows of all pages, by their number."""
    references = {home.ledger.reference(document(f"key-{number}")): number for number in range(1, 6)}
    found: list[int] = []
    while True:
        page = await home.ledger.page(query)
        found.extend(references[row.ledger_ref] for row in page.items)
        if page.next_page_token is None:
            return found
        assert len(page.items) == query.page_size
        query = query.model_copy(update={"page_token": page.next_page_token})


async def walked(home: Shelf, size: int) -> AsyncGenerator[int]:
    """The rows of all pages, of which some may have fewer than asked for."""
    references = {home.ledger.reference(document(f"key-{number}")): number for number in range(1, 6)}
    page = await home.ledger.page(LedgerQuery(page_size=size))
    while True:
        for row in page.items:
            yield references[row.ledger_ref]
        if page.next_page_token is None:
            return
        page = await home.ledger.page(LedgerQuery(page_size=size, page_token=page.next_page_token))


async def test_a_row_is_shown_without_its_result_and_with_the_beginning_of_its_fingerprint(home: Shelf) -> None:
    taken = await home.reserved()
    shown = LedgerRow(
        ledger_ref=f"firestore/{COLLECTION}/{document()}",
        status=OPEN,
        version=taken.version,
        operation="create-invoice",
        trace_id="t" * 32,
        fingerprint=wanted().fingerprint[:12],
        started_at=NOON,
        max_until=MAX_UNTIL,
    )
    assert await home.ledger.show(document()) == shown

    await home.ledger.complete(taken, Response(status=201, result_json='"née"'), ttl=WEEK)
    version = (await home.ledger.read(document())).version
    completed = {
        "status": DONE,
        "version": version,
        "response_status": 201,
        "result_bytes": 6,
        "expires_at": NOON + WEEK,
    }
    assert await home.ledger.show(document()) == shown.model_copy(update=completed)


@pytest.mark.parametrize("size", [1, 2, 5, 100])
@pytest.mark.parametrize(
    ("status", "older_than", "expected"),
    [
        (None, None, [5, 4, 3, 2, 1]),
        (OPEN, None, [5, 3, 1]),
        (DONE, None, [4, 2]),
        (None, NOON + 2 * SECOND, [2, 1]),
        (OPEN, NOON + 2 * SECOND, [1]),
        (DONE, NOON, []),
    ],
)
async def test_rows_are_listed_newest_first_each_once(
    home: Shelf, size: int, status: RowStatus | None, older_than: datetime | None, expected: list[int]
) -> None:
    await five(home)
    assert await numbers(home, LedgerQuery(status=status, older_than=older_than, page_size=size)) == expected


async def test_no_result_is_read_for_a_list_a_row_or_a_probe(home: Shelf) -> None:
    await home.ledger.complete(await home.reserved(), OK, ttl=WEEK)
    home.line.masks.clear()
    await home.ledger.show(document())
    await home.ledger.page(LedgerQuery())
    await home.ledger.probe()

    (asked,) = home.line.queries
    for mask in (*home.line.masks, asked.fields):
        assert mask is not None
        assert "result_json" not in mask


@pytest.mark.inv("I11")
async def test_a_probe_reads_one_status_and_changes_nothing(home: Shelf) -> None:
    await home.ledger.probe()
    assert (home.line.masks, home.line.tried, home.line.queries) == ([("status",)], [], [])


@pytest.mark.parametrize(
    "other", [{"status": OPEN}, {"older_than": NOON + 9 * SECOND}, {"status": DONE, "older_than": NOON + 9 * SECOND}]
)
async def test_a_page_token_of_another_list_is_refused(home: Shelf, other: dict[str, object]) -> None:
    await five(home)
    token = (await home.ledger.page(LedgerQuery(page_size=1))).next_page_token
    for query in ({"page_token": "no"}, {"page_token": token, **other}):
        with pytest.raises(Invalid) as refused:
            await home.ledger.page(LedgerQuery.model_validate(query))
        assert [problem.field for problem in refused.value.fields] == ["pageToken"]


POISONED: list[Document] = [
    {"schema": 2},
    {"status": "weird"},
    {"fingerprint": None},
    {"started_at": "never"},
    {"max_until": "soon"},
]


@pytest.mark.parametrize("size", [1, 100])
@pytest.mark.parametrize("poison", POISONED, ids=[next(iter(each)) for each in POISONED])
async def test_a_row_that_cannot_be_read_hides_no_other_and_is_an_error_alone(
    home: Shelf, poison: Document, size: int
) -> None:
    await five(home)
    for number in (2, 5):
        ref = Ref(COLLECTION, document(f"key-{number}"))
        (snapshot,) = await home.store.get([ref])
        assert snapshot is not None
        await home.store.commit([Replace(ref, {**snapshot.data, **poison}, snapshot.version)])

    assert [number async for number in walked(home, size)] == [4, 3, 1]
    with pytest.raises(LedgerUnavailable):
        await home.ledger.show(document("key-5"))


async def test_a_ledger_that_is_away_cannot_be_looked_at(home: Shelf) -> None:
    away = Unavailable("the store is away")
    for looks in (
        home.ledger.read(document()),
        home.ledger.show(document()),
        home.ledger.page(LedgerQuery()),
        home.ledger.probe(),
    ):
        home.line.reads.append(away)
        with pytest.raises(LedgerUnavailable):
            await looks
