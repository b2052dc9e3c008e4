"""The catalogue as people see it: in its order, with what replays hold where there are any."""

import pytest

from services.kernel.errors import Invalid
from services.kernel.wire.model import PageQuery
from services.kernel.wire.operations import Operation, Replays
from tests.unit.coordinator.operations.desk import MODES, Desk, catalogue, declared, operation

pytestmark = pytest.mark.anyio

OFFERED = list(catalogue(*(declared(mode) for mode in MODES)).operations.values())


async def listed(desk: Desk, **query: object) -> tuple[tuple[Operation, ...], str | None]:
    page = await desk.operations(*OFFERED).page(PageQuery.model_validate(query))
    return page.items, page.next_page_token


async def test_an_operation_shows_what_it_takes_and_where_it_goes(desk: Desk, anyio_backend: str) -> None:
    ((shown, *_), _) = await listed(desk)
    assert shown.model_dump(mode="json", exclude={"input"}) == {
        "operation": "make-required",
        "title": "Make an invoice",
        "approved": True,
        "mode": "required",
        "method": "POST",
        "upstream": "http://billing.test:8080",
        "path": "/v1/invoices",
        "replays": {"ttlSeconds": 604_800, "ceilingBytes": 819_200},
    }
    assert shown.input["required"] == ["customer"]


@pytest.mark.req("R143")
async def test_replays_are_promised_only_where_the_ledger_keeps_them(desk: Desk, anyio_backend: str) -> None:
    replays = Replays(ttl_seconds=604_800, ceiling_bytes=819_200)
    items, _ = await listed(desk)
    assert [shown.replays for shown in items] == [replays, replays, None, None, None]
    items, _ = await listed(desk.without_ledger())
    assert [shown.replays for shown in items] == [None] * 5


async def test_the_catalogue_is_listed_in_its_order_page_by_page(desk: Desk, anyio_backend: str) -> None:
    first, token = await listed(desk, page_size=2)
    second, then = await listed(desk, page_size=2, page_token=token)
    third, end = await listed(desk, page_size=2, page_token=then)
    assert [len(first), len(second), len(third)] == [2, 2, 1]
    assert [shown.operation for shown in (*first, *second, *third)] == [each.id for each in OFFERED]
    assert end is None


async def test_a_token_of_no_list_is_refused(desk: Desk, anyio_backend: str) -> None:
    with pytest.raises(Invalid) as refused:
        await listed(desk, page_token="no-such")
    assert [problem.field for problem in refused.value.fields] == ["pageToken"]


async def test_an_operation_that_is_not_approved_is_listed_as_such(desk: Desk, anyio_backend: str) -> None:
    (found,) = catalogue(declared().replace("approved: true", "approved: false")).operations.values()
    page = await desk.operations(found, operation("none")).page(PageQuery())
    assert [shown.approved for shown in page.items] == [False, True]
