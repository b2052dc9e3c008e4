"""What goes wrong in the runner itself: a run ends with a reason all the same, in time, and nothing of it is left."""

import asyncio
import errno
import os
import signal
from collections.abc import Callable
from dataclasses import replace
from datetime import datetime, timedelta

import pytest

from services.kernel.adapters.clock import SystemClock
from services.kernel.errors import Unavailable
from services.kernel.ids import RunId
from services.kernel.runs import Reason, Status
from services.kernel.wire.runs import Complete
from services.runner.ending import Cause
from services.runner.sandbox import Command, Workspace
from services.runner.sandbox.guard import program
from services.runner.sandbox.port import Output
from services.runner.sandbox.process import ProcessSandbox
from tests.unit.runner.desk import Desk
from tests.unit.runner.processes import is_alive
from tests.unit.runner.stage import FOREVER, NUMBERS, Stage, pids, steps

pytestmark = pytest.mark.anyio

LONG = timedelta(hours=1)


class Full(ProcessSandbox):
    """Has no space left for a run."""

    async def open(self, run: RunId, *, output: Output, lease_until: timedelta) -> Workspace:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


class Buggy(ProcessSandbox):
    """Meets what nobody thought of."""

    async def run(self, command: Command) -> int:
        raise ZeroDivisionError


class Slow(ProcessSandbox):
    """Takes for ever to be torn down once it was open."""

    was_open = False

    async def open(self, run: RunId, *, output: Output, lease_until: timedelta) -> Workspace:
        workspace = await super().open(run, output=output, lease_until=lease_until)
        self.was_open = True
        return workspace

    async def close(self) -> None:
        if self.was_open:
            self.was_open = False
            await asyncio.get_running_loop().create_future()
        await super().close()


class Counting(SystemClock):
    """Calls `second` when it is asked for the time the second time: at the end of the first step."""

    def __init__(self, second: Callable[[], None]) -> None:
        self._asked = 0
        self._second = second

    def now(self) -> datetime:
        self._asked += 1
        if self._asked == 2:
            self._second()
        return super().now()


async def test_a_runner_without_room_says_so(stage: Stage) -> None:
    stage.sandbox = Full(stage.work, clock=SystemClock())
    desk = Desk(stage.job(steps("true")))
    await stage.run(desk)
    assert desk.names() == ["claim", "report", "complete"]
    assert (desk.report_taken.status, desk.report_taken.reason) == (Status.FAILED, Reason.RUNNER_TERMINATED)
    assert desk.report_taken.detail == "the runner has no room for the run: [Errno 28] No space left on device"


async def test_an_error_that_nobody_foresaw_ends_the_run_with_a_reason(stage: Stage) -> None:
    stage.sandbox = Buggy(stage.work, clock=SystemClock())
    desk = Desk(stage.job(steps("true")))
    await stage.run(desk)
    assert desk.names() == ["claim", "start", "report", "complete"]
    assert desk.report_taken.reason is Reason.RUNNER_TERMINATED
    assert desk.report_taken.detail == "the runner met an error of its own: ZeroDivisionError"
    assert stage.left() == []


async def test_a_killed_guard_ends_the_run_with_a_reason(stage: Stage) -> None:
    before = program.descendants(os.getpid())
    desk = Desk(stage.job(steps(f"echo pid $$ guard $PPID; setsid sleep 300 & {FOREVER}")))
    running = asyncio.create_task(stage.run(desk))
    await desk.logged("ready")
    os.kill(int(desk.log.partition("guard ")[2].split()[0]), signal.SIGKILL)
    await running
    assert desk.report_taken.reason is Reason.RUNNER_TERMINATED
    assert desk.report_taken.detail == "the process that guards the run's commands was killed"
    assert desk.took(Complete)[0].teardown_complete is True
    assert [is_alive(pid) for pid in pids(desk.log)] == [False]
    assert program.descendants(os.getpid()) - before == set()


async def test_a_stopped_guard_keeps_nothing_alive_beyond_the_lease(stage: Stage) -> None:
    before = program.descendants(os.getpid())
    stage.sandbox = ProcessSandbox(stage.work, clock=SystemClock(), kill=timedelta(seconds=0.5))
    stage.numbers = replace(NUMBERS, lease=timedelta(seconds=1), grace=timedelta())
    desk = Desk(stage.job(steps(f"echo pid $$; kill -STOP $PPID; {FOREVER}")))
    running = asyncio.create_task(stage.run(desk))
    await desk.logged("ready")
    desk.refusing["heartbeat"] = Unavailable()
    await running
    assert desk.names() == ["claim", "start"]
    assert [is_alive(pid) for pid in pids(desk.log)] == [False]
    assert program.descendants(os.getpid()) - before == set()


async def test_a_shutdown_shortens_a_teardown_that_is_under_way(stage: Stage) -> None:
    stage.sandbox = Slow(stage.work, clock=SystemClock())
    stage.numbers = replace(NUMBERS, teardown=LONG, hurry=timedelta(milliseconds=100))
    desk = Desk(stage.job(steps("true")))
    running = asyncio.create_task(stage.run(desk))
    await desk.came("report")
    stage.ending.require(Cause.TERMINATED)
    await running
    assert desk.report_taken.status is Status.PASSED
    assert desk.took(Complete)[0].teardown_complete is False


async def test_a_shutdown_shortens_the_last_words(stage: Stage) -> None:
    stage.numbers = replace(NUMBERS, last_words=LONG, hurry=timedelta(milliseconds=100))
    desk = Desk(stage.job(steps("true")))
    desk.refusing["append_log"] = Unavailable()
    running = asyncio.create_task(stage.run(desk))
    await desk.came("report")
    stage.ending.require(Cause.TERMINATED)
    await running
    assert desk.names() == ["claim", "start", "report", "complete"]
    assert desk.report_taken.status is Status.PASSED


@pytest.mark.parametrize("script", ["true", "exit 3"])
async def test_a_cancel_that_is_known_before_the_report_is_what_the_log_says(stage: Stage, script: str) -> None:
    stage.clock = Counting(lambda: stage.ending.require(Cause.CANCELED))
    desk = Desk(stage.job(steps(script)))
    await stage.run(desk)
    assert desk.report_taken.status is Status.CANCELED
    assert desk.log.endswith("── step 1/1: one\n── canceled\n")
