"""One run at a time, whoever goes away meanwhile."""

import asyncio
from collections.abc import AsyncGenerator
from datetime import timedelta
from pathlib import Path

import pytest

from services.kernel import deadline
from services.kernel.adapters.clock import SystemClock, SystemIds
from services.kernel.errors import Busy, Unavailable
from services.kernel.ids import RunId
from services.kernel.runs import Reason, Status, Verdict
from services.runner.checkout.source import LOCAL
from services.runner.logs import LogLimits
from services.runner.means import Means
from services.runner.numbers import Numbers
from services.runner.sandbox import TeardownFailed
from services.runner.sandbox.process import ProcessSandbox
from services.runner.slot import Slot
from tests.unit.runner.desk import RUN, Desk, job
from tests.unit.runner.origin import Origin

pytestmark = pytest.mark.anyio

OTHER = RunId("run_0000000000000000000002")
PIPELINE = "version: 1\nrun:\n  steps:\n    - {name: wait, run: 'echo ready; until [ -e go ]; do sleep 0.01; done'}\n"


class Dirty(ProcessSandbox):
    """Says that something is left, as often as it is told."""

    left = 0

    async def close(self) -> None:
        await super().close()
        if self.left:
            self.left -= 1
            raise TeardownFailed("for a test")


class Stage:
    def __init__(self, tmp_path: Path) -> None:
        origin = Origin.create(tmp_path / "origin")
        self.desk = Desk(job(origin.url, sha=origin.commit({".anvil.yml": PIPELINE})))
        self.sandbox = Dirty(tmp_path / "work", clock=SystemClock())
        self.go = tmp_path / "work" / RUN / "repository" / "go"
        self.slot = Slot(
            Means(
                coordinator=self.desk,
                sandbox=self.sandbox,
                clock=SystemClock(),
                ids=SystemIds(),
                numbers=Numbers(log=LogLimits(every=timedelta(milliseconds=10))),
                protocols=LOCAL,
            )
        )


@pytest.fixture
async def stage(tmp_path: Path) -> AsyncGenerator[Stage]:
    stage = Stage(tmp_path)
    yield stage
    stage.slot.terminate()
    async with asyncio.timeout(20):
        await stage.slot.idle()


async def test_a_busy_runner_refuses_before_it_claims(stage: Stage) -> None:
    first = asyncio.create_task(stage.slot.execute(RUN))
    await stage.desk.logged("ready")
    with pytest.raises(Busy):
        await stage.slot.execute(OTHER)
    assert stage.desk.names() == ["claim", "start"]
    stage.go.touch()
    assert (await first).verdict is Verdict.EXECUTE


async def test_a_run_goes_on_though_its_task_is_not_waited_for_any_more(stage: Stage) -> None:
    request = asyncio.create_task(stage.slot.execute(RUN))
    await stage.desk.logged("ready")
    request.cancel()
    await asyncio.gather(request, return_exceptions=True)
    stage.go.touch()
    await stage.desk.came("complete")
    assert stage.desk.report_taken.status is Status.PASSED


async def test_a_run_outlives_the_deadline_of_the_request_that_brought_it(stage: Stage) -> None:
    hour = timedelta(hours=1)
    left: set[timedelta] = set()
    stage.desk.watch = lambda name: left.add(deadline.left(SystemClock(), at_most=hour))
    with deadline.scope(SystemClock(), timedelta(milliseconds=1)):
        running = asyncio.create_task(stage.slot.execute(RUN))
    await stage.desk.came("start")
    stage.go.touch()
    assert (await running).verdict is Verdict.EXECUTE
    assert left == {hour}


async def test_the_next_run_comes_after_the_first(stage: Stage) -> None:
    for times in (1, 2):
        running = asyncio.create_task(stage.slot.execute(RUN))
        await stage.desk.came("start", times)
        stage.go.touch()
        await running
    assert stage.desk.names() == ["claim", "start", "report", "complete"] * 2


async def test_a_runner_that_shuts_down_ends_its_run_and_takes_no_other(stage: Stage) -> None:
    running = asyncio.create_task(stage.slot.execute(RUN))
    await stage.desk.logged("ready")
    await stage.slot.ready()
    stage.slot.terminate()
    await running
    assert stage.desk.report_taken.reason is Reason.RUNNER_TERMINATED
    with pytest.raises(Busy):
        await stage.slot.execute(OTHER)
    with pytest.raises(Unavailable):
        await stage.slot.ready()


@pytest.mark.inv("R1")
async def test_no_run_meets_anothers_leftovers(stage: Stage) -> None:
    stage.sandbox.left = 1
    with pytest.raises(Busy):
        await stage.slot.execute(RUN)
    assert stage.desk.calls == []
