"""What an attempt says renews its lease from the moment it was sent, and only if it was accepted."""

from datetime import timedelta

import pytest

from services.kernel.adapters.clock import SystemIds
from services.kernel.errors import Unavailable
from services.kernel.ids import CommitSha
from services.runner.attempt import Attempt
from tests.unit.runner.clocks import SwiftClock
from tests.unit.runner.desk import RUN, Desk, job

pytestmark = pytest.mark.anyio

S = timedelta(seconds=1)


class Stage:
    """An attempt with a lease of 30 s, one second of which each call takes on its way."""

    def __init__(self) -> None:
        self.clock = SwiftClock()
        self.desk = Desk(job("https://example.org/a"))
        self.desk.watch = lambda name: self.clock.pass_by(S)
        self.attempt = Attempt(RUN, self.desk, clock=self.clock, ids=SystemIds(), lease=30 * S)

    @property
    def left(self) -> timedelta:
        return self.attempt.lease.left(self.clock.elapsed())


@pytest.mark.inv("Q8")
async def test_a_start_or_heartbeat_renews_the_lease_from_its_sending() -> None:
    stage = Stage()
    await stage.attempt.claim()
    assert stage.left == 29 * S
    stage.clock.pass_by(9 * S)
    await stage.attempt.start(CommitSha("1" * 40))
    assert stage.left == 29 * S
    stage.clock.pass_by(9 * S)
    await stage.attempt.heartbeat(())
    assert stage.left == 29 * S


async def test_a_claim_that_is_asked_again_renews_nothing() -> None:
    stage = Stage()
    stage.desk.lose("claim", Unavailable())
    await stage.attempt.claim()
    assert stage.left < 28 * S


async def test_a_heartbeat_that_is_not_answered_renews_nothing() -> None:
    stage = Stage()
    stage.desk.fail("heartbeat", Unavailable())
    with pytest.raises(Unavailable):
        await stage.attempt.heartbeat(())
    assert stage.left == 29 * S


async def test_a_claim_is_asked_for_no_longer_than_its_yes_would_last() -> None:
    stage = Stage()
    stage.desk.refusing["claim"] = Unavailable()
    with pytest.raises(Unavailable):
        await stage.attempt.claim()
    assert 30 * S <= stage.clock.elapsed() < 40 * S
