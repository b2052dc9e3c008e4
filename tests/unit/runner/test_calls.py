"""Calls to the coordinator that go wrong."""

from dataclasses import replace
from datetime import timedelta

import pytest

from services.kernel.adapters.clock import SystemClock
from services.kernel.errors import Ambiguous, Invalid, OwnershipLost, Unavailable
from services.kernel.ids import RunId
from services.kernel.runs import Status, Verdict
from services.kernel.wire.runs import Claim, Complete
from services.runner.sandbox import TeardownFailed, Workspace
from services.runner.sandbox.port import Output
from services.runner.sandbox.process import ProcessSandbox
from tests.unit.runner.desk import Desk
from tests.unit.runner.stage import NUMBERS, TICK, Stage, steps

pytestmark = pytest.mark.anyio


@pytest.mark.parametrize("verdict", [verdict for verdict in Verdict if verdict is not Verdict.EXECUTE])
@pytest.mark.req("R4")
async def test_a_stale_task_does_nothing(stage: Stage, verdict: Verdict) -> None:
    desk = Desk(None, verdict=verdict)
    assert await stage.run(desk) is verdict
    assert [name for name, _ in desk.calls] == ["claim"]
    assert stage.left() == []


async def test_a_claim_whose_answer_was_lost_is_asked_again_with_the_same_token(stage: Stage) -> None:
    desk = Desk(stage.job(steps("true")))
    desk.lose("claim", Ambiguous())
    await stage.run(desk)
    tokens = {claim.attempt for claim in desk.took(Claim)}
    assert (len(desk.took(Claim)), len(tokens)) == (2, 1)
    assert len(tokens.pop()) == 22


async def test_a_claim_that_is_never_answered_is_given_up(stage: Stage) -> None:
    stage.numbers = replace(NUMBERS, lease=TICK)
    desk = Desk(stage.job(steps("true")))
    desk.refusing["claim"] = Unavailable()
    with pytest.raises(Unavailable):
        await stage.run(desk)


@pytest.mark.inv("S7")
@pytest.mark.inv("R6")
async def test_start_report_and_complete_are_asked_again_with_the_same_token(stage: Stage) -> None:
    desk = Desk(stage.job(steps("true")))
    for call in ("start", "report", "complete"):
        desk.lose(call, Ambiguous())
    await stage.run(desk)
    assert desk.names() == ["claim", "start", "start", "report", "report", "complete", "complete"]
    tokens = {dict(message)["attempt"] for _, message in desk.calls}
    assert tokens == {desk.took(Claim)[0].attempt}


async def test_a_fenced_report_is_the_end_of_it(stage: Stage) -> None:
    desk = Desk(stage.job(steps("true")))
    desk.refusing["report"] = OwnershipLost()
    await stage.run(desk)
    assert desk.names() == ["claim", "start", "report"]
    assert stage.left() == []


@pytest.mark.inv("R2")
@pytest.mark.parametrize("error", [Unavailable(), Invalid()])
async def test_a_log_that_cannot_be_stored_changes_no_result(stage: Stage, error: Exception) -> None:
    stage.numbers = replace(NUMBERS, last_words=TICK)
    desk = Desk(stage.job(steps("head -c 1000000 /dev/zero")))
    desk.refusing["append_log"] = error
    await stage.run(desk)
    assert desk.report_taken.status is Status.PASSED
    assert desk.names()[-1] == "complete"


class Stubborn(ProcessSandbox):
    """Cannot be torn down once it was open."""

    was_open = False

    async def open(self, run: RunId, *, output: Output, lease_until: timedelta) -> Workspace:
        workspace = await super().open(run, output=output, lease_until=lease_until)
        self.was_open = True
        return workspace

    async def close(self) -> None:
        await super().close()
        if self.was_open:
            self.was_open = False
            raise TeardownFailed("for a test")


async def test_a_teardown_that_fails_is_told_with_the_result_intact(stage: Stage) -> None:
    stage.sandbox = Stubborn(stage.work, clock=SystemClock())
    desk = Desk(stage.job(steps("true")))
    await stage.run(desk)
    assert desk.report_taken.status is Status.PASSED
    assert desk.took(Complete)[0].teardown_complete is False
