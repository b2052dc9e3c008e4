"""The ledger goes away, or its answers get lost, around a call that was made."""

import asyncio

import pytest

from services.kernel.errors import IdempotencyInProgress, LedgerUnavailable, OutcomeUnknown
from services.kernel.wire.ledger import LedgerQuery, RowStatus
from tests.unit.coordinator.operations import billing as other
from tests.unit.coordinator.operations.billing import Answer, Billing, Request
from tests.unit.coordinator.operations.desk import Desk, operation

pytestmark = pytest.mark.anyio


def with_the_ledger_gone(desk: Desk, answer: Answer) -> Answer:
    """It answers so, and by then the ledger is away."""

    async def gone(upstream: Billing, request: Request, writer: asyncio.StreamWriter) -> None:
        desk.rows.away = True
        await answer(upstream, request, writer)

    return gone


async def statuses(desk: Desk) -> list[RowStatus]:
    assert desk.ledger is not None
    return [row.status for row in (await desk.ledger.page(LedgerQuery())).items]


@pytest.mark.req("R131")
@pytest.mark.inv("I8", "I10")
@pytest.mark.parametrize("answer", [other.answers(201), other.refuses(422)], ids=["acted", "did not act"])
async def test_an_end_that_is_not_proven_leaves_the_row(upstream: Billing, desk: Desk, answer: Answer) -> None:
    upstream.answers = [with_the_ledger_gone(desk, answer)]
    offered = operation(port=upstream.port)
    with pytest.raises(OutcomeUnknown) as unknown:
        await desk.execute(offered)
    desk.rows.away = False
    assert await statuses(desk) == [RowStatus.IN_PROGRESS]
    with pytest.raises(IdempotencyInProgress) as later:
        await desk.execute(offered)
    assert later.value.ledger_ref == unknown.value.ledger_ref
    assert len(upstream.requests) == 1


@pytest.mark.inv("I15")
@pytest.mark.parametrize("drops", [False, True], ids=["applied", "not applied"])
@pytest.mark.parametrize("lost", [0, 1], ids=["the reservation's", "the completion's"])
async def test_an_answer_that_got_lost_is_found_out(upstream: Billing, desk: Desk, lost: int, drops: bool) -> None:
    desk.rows.loses, desk.rows.drops = lost, drops
    offered = operation(port=upstream.port)
    assert (await desk.execute(offered)).status == 201
    assert await statuses(desk) == [RowStatus.COMPLETED]
    assert (await desk.execute(offered)).replayed
    assert len(upstream.requests) == 1


@pytest.mark.parametrize("drops", [False, True], ids=["applied", "not applied"])
async def test_a_release_whose_answer_got_lost_is_found_out(upstream: Billing, desk: Desk, drops: bool) -> None:
    upstream.answers = [other.refuses(422)]
    desk.rows.loses, desk.rows.drops = 1, drops
    assert (await desk.execute(operation(port=upstream.port))).status == 422
    assert await statuses(desk) == []


@pytest.mark.inv("I11")
async def test_a_reservation_that_cannot_be_proven_calls_nobody(upstream: Billing, desk: Desk) -> None:
    """Its answer is lost, and then the ledger is away, so that nobody can look."""

    async def lose_the_ledger() -> None:
        desk.rows.away = True

    desk.rows.meanwhile = lose_the_ledger
    offered = operation(port=upstream.port)
    with pytest.raises(LedgerUnavailable):
        await desk.execute(offered)
    assert upstream.requests == []
    desk.rows.away = False
    assert (await desk.execute(offered)).status == 201
