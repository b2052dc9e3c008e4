"""An execution as it runs: to its end without its caller, never too late, once for many callers."""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from datetime import timedelta
from ipaddress import ip_address

import pytest

from services.coordinator.operations.model import MAX_ATTEMPTS, MAX_TIMEOUT
from services.coordinator.operations.outcome import LONGEST, Answered, Attempt, Lost, NeverSent
from services.coordinator.operations.request import Outbound
from services.coordinator.operations.upstream import TooLate
from services.kernel import deadline
from services.kernel.addresses import Address
from services.kernel.errors import (
    Ambiguous,
    IdempotencyInProgress,
    OperationOutcomeUnknown,
    OutcomeUnknown,
    Unavailable,
)
from services.kernel.wire.ledger import LedgerQuery
from services.kernel.wire.operations import LONGEST_EXECUTION, Executed
from tests.unit.coordinator.operations import billing as other
from tests.unit.coordinator.operations.billing import Billing
from tests.unit.coordinator.operations.desk import Desk, ask, operation
from tests.unit.kernel.world import NOON, MovableClock

pytestmark = pytest.mark.anyio

PATIENCE = timedelta(milliseconds=300)


@dataclass(slots=True)
class Told:
    """Implements `Caller`: each attempt ends as the test says, after `takes`; `stands_still` right before it leaves."""

    clock: MovableClock
    attempts: list[Attempt]
    takes: timedelta = timedelta()
    stands_still: list[timedelta] = field(default_factory=list[timedelta])
    began: list[timedelta] = field(default_factory=list[timedelta])

    async def resolve(self, host: str | Address) -> Sequence[Address]:
        return (ip_address("127.0.0.1"),)

    async def call(
        self, request: Outbound, found: Sequence[Address], *, within: timedelta, leaving: Callable[[], None]
    ) -> Attempt:
        if self.stands_still:
            self.clock.move(self.stands_still.pop(0))
        try:
            leaving()
        except TooLate:
            return NeverSent(why="too late")
        self.began.append(self.clock.now() - NOON)
        self.clock.move(self.takes)
        return self.attempts.pop(0)


async def test_an_execution_goes_on_when_its_caller_has_gone(upstream: Billing, desk: Desk) -> None:
    upstream.answers = [other.does_and_hangs]
    offered = operation(port=upstream.port)
    operations = desk.operations(offered)
    with deadline.scope(desk.clock, PATIENCE), pytest.raises(Ambiguous) as told:
        await operations.execute(offered.id, ask(offered))
    assert (told.value.code, told.value.retryable) == ("unavailable", True)
    with pytest.raises(IdempotencyInProgress):
        await operations.execute(offered.id, ask(offered))
    upstream.hold.set()
    await operations.drain()
    again = await operations.execute(offered.id, ask(offered))
    assert (again.status, again.result, again.replayed) == (201, {"invoice": "i-1"}, True)
    assert len(upstream.requests) == 1


async def test_an_execution_goes_on_when_its_caller_is_interrupted(upstream: Billing, desk: Desk) -> None:
    upstream.answers = [other.does_and_hangs]
    offered = operation(port=upstream.port)
    operations = desk.operations(offered)
    asking = asyncio.create_task(operations.execute(offered.id, ask(offered)))
    await upstream.arrived.wait()
    asking.cancel()
    with pytest.raises(asyncio.CancelledError):
        await asking
    upstream.hold.set()
    await operations.drain()
    assert (await operations.execute(offered.id, ask(offered))).replayed


async def test_who_goes_before_an_answer_that_cannot_be_had_again_is_not_told_to_try_again(
    upstream: Billing, desk: Desk
) -> None:
    upstream.answers = [other.does_and_hangs]
    offered = operation("none", port=upstream.port)
    operations = desk.operations(offered)
    with deadline.scope(desk.clock, PATIENCE), pytest.raises(OperationOutcomeUnknown) as told:
        await operations.execute(offered.id, ask(offered))
    assert told.value.retryable is False
    upstream.hold.set()
    await operations.drain()
    assert len(upstream.made()) == 1


async def test_nothing_is_begun_when_the_deadline_has_passed(upstream: Billing, desk: Desk) -> None:
    offered = operation(port=upstream.port)
    with deadline.scope(desk.clock, timedelta()), pytest.raises(Unavailable):
        await desk.execute(offered)
    assert (upstream.requests, desk.rows.commits) == ([], [])


@pytest.mark.req("R101")
@pytest.mark.inv("I1")
async def test_of_many_callers_with_one_key_one_calls(upstream: Billing, desk: Desk) -> None:
    upstream.answers = [other.does_and_hangs]
    offered = operation(port=upstream.port)
    operations = desk.operations(offered)
    asking = [asyncio.create_task(operations.execute(offered.id, ask(offered))) for _ in range(20)]
    await upstream.arrived.wait()
    upstream.hold.set()
    ended = await asyncio.gather(*asking, return_exceptions=True)
    firsts = [each for each in ended if isinstance(each, Executed) and not each.replayed]
    rest = [each for each in ended if not isinstance(each, Executed)]
    assert len(firsts) == 1
    assert all(isinstance(each, IdempotencyInProgress) for each in rest), rest
    assert (len(upstream.requests), len(upstream.made())) == (1, 1)


async def test_pauses_grow_and_the_last_attempt_ends_before_the_row_says_that_all_have(desk: Desk) -> None:
    told = Told(desk.clock, [Lost(why="cut")] * 5, takes=timedelta(seconds=10))
    desk.caller = told
    offered = replace(operation(), attempts=5)
    with pytest.raises(OutcomeUnknown):
        await desk.execute(offered)
    # With a jitter of one half: 0.375 s, 0.75 s, 1.5 s, 3 s between attempts of 10 s.
    assert [each.total_seconds() for each in told.began] == [0, 10.375, 21.125, 32.625, 45.625]
    assert desk.ledger is not None
    (row,) = (await desk.ledger.page(LedgerQuery())).items
    assert row.max_until == NOON + timedelta(seconds=5 * 10 + 0.5 + 1 + 2 + 4 + 10 + 10)
    assert desk.clock.now() <= row.max_until


@pytest.mark.parametrize("still", [timedelta(minutes=2), timedelta(days=1)])
async def test_a_process_that_stood_still_does_not_call_after_all(
    upstream: Billing, desk: Desk, still: timedelta
) -> None:
    """The row says when an operator may judge; what wakes up later must not act after the verdict."""
    told = Told(desk.clock, [Answered(status=201)], stands_still=[still])
    desk.caller = told
    with pytest.raises(Unavailable):
        await desk.execute(operation())
    assert told.began == []
    assert desk.ledger is not None
    assert (await desk.ledger.page(LedgerQuery())).items == ()


async def test_a_process_that_stood_still_between_attempts_does_not_try_again(desk: Desk) -> None:
    told = Told(desk.clock, [Lost(why="cut"), Answered(status=201)], stands_still=[timedelta(), timedelta(minutes=2)])
    desk.caller = told
    with pytest.raises(OutcomeUnknown):
        await desk.execute(operation())
    assert len(told.began) == 1


async def test_an_attempt_may_begin_up_to_its_timeout_before_the_end(desk: Desk) -> None:
    """3 attempts of 10 s, 1.5 s of pauses, 20 s to be late by: the row ends at 51.5 s, so 41.5 s is the last moment."""
    for still, begins in ((41.5, 1), (41.6, 0)):
        told = Told(desk.clock, [Answered(status=201)], stands_still=[timedelta(seconds=still)])
        desk.caller = told
        if begins:
            assert (await desk.execute(operation(), ask(operation(), key=f"{still}"))).status == 201
        else:
            with pytest.raises(Unavailable):
                await desk.execute(operation(), ask(operation(), key=f"{still}"))
        assert len(told.began) == begins


async def test_a_host_is_resolved_once_an_execution(upstream: Billing, desk: Desk) -> None:
    upstream.answers = [other.refuses(500)]
    offered = operation("natural", port=upstream.port)
    await desk.execute(offered)
    assert (desk.names.asked, len(upstream.requests)) == (["billing.test"], 3)


def test_every_execution_ends_within_what_callers_wait_for_at_most() -> None:
    """Up to 10 s each for the audit, the reservation and the end of the row go with the attempts."""
    assert timedelta(seconds=MAX_ATTEMPTS * MAX_TIMEOUT.total_seconds() + 7.5 + 60 + 10) == LONGEST
    assert LONGEST + timedelta(seconds=30) <= LONGEST_EXECUTION
