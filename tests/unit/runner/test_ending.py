"""A run that is ended from outside: canceled, shut down, taken over, unheard."""

import asyncio
import socket
from dataclasses import replace
from datetime import timedelta

import pytest

from services.kernel.errors import OwnershipLost, Unavailable
from services.kernel.runs import Directive, Reason, Status
from services.kernel.wire.runs import Report
from services.runner.attempt import Attempt
from services.runner.ending import Cause, Ended
from services.runner.logs import RunLog
from services.runner.pipeline import Step
from services.runner.progress import Progress
from services.runner.steps import Steps
from tests.unit.runner.desk import RUN, Desk, job
from tests.unit.runner.processes import is_alive
from tests.unit.runner.stage import FOREVER, NUMBERS, TICK, Stage, pids, steps

pytestmark = pytest.mark.anyio


async def test_a_canceled_run_may_clean_up_and_ends_canceled(stage: Stage) -> None:
    desk = Desk(stage.job(steps("trap 'echo cleaning; exit 0' TERM; " + FOREVER, "echo never")))
    running = asyncio.create_task(stage.run(desk))
    await desk.logged("ready")
    desk.directive = Directive.CANCEL
    await running
    report = desk.report_taken
    assert (report.status, report.reason, report.exit_code) == (Status.CANCELED, None, None)
    assert [step.status for step in report.steps] == ["canceled", "skipped"]
    assert "cleaning\n" in desk.log
    assert "never" not in desk.log


async def test_a_cancel_ends_a_checkout_that_gets_no_answer(stage: Stage) -> None:
    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))
        silent.listen()
        desk = Desk(job(f"http://127.0.0.1:{silent.getsockname()[1]}/silent.git", sha="1" * 40))
        desk.directive = Directive.CANCEL
        await stage.run(desk)
    assert desk.names() == ["claim", "report", "complete"]
    assert desk.report_taken.status is Status.CANCELED


async def test_a_cancel_in_the_answer_to_start_runs_nothing(stage: Stage) -> None:
    desk = Desk(stage.job(steps("echo never")))
    desk.directive = Directive.CANCEL
    await stage.run(desk)
    assert desk.report_taken.status is Status.CANCELED
    assert "never" not in desk.log


async def test_no_further_command_begins_once_the_end_is_demanded(stage: Stage) -> None:
    means = stage.means(Desk(None))
    attempt = Attempt(RUN, means.coordinator, clock=means.clock, ids=means.ids, lease=NUMBERS.lease)
    workspace = await stage.sandbox.open(RUN, output=lambda block: None, lease_until=attempt.lease.until)
    run_log = RunLog(attempt.append_log, limits=NUMBERS.log, clock=means.clock)
    progress = Progress()
    progress.plan(("one",))
    stage.ending.require(Cause.CANCELED)
    commands = Steps(means, stage.ending, run_log, progress, grace=TICK)
    with pytest.raises(Ended):
        await commands.run((Step(name="one", script="touch mark"),), directory=workspace.repository, environment={})
    assert list(workspace.repository.iterdir()) == []


async def test_a_runner_that_is_shut_down_reports_that_and_completes_at_once(stage: Stage) -> None:
    desk = Desk(stage.job(steps("trap '' TERM; " + FOREVER)))
    stage.numbers = replace(NUMBERS, hurry=timedelta(seconds=1))
    running = asyncio.create_task(stage.run(desk))
    await desk.logged("ready")
    stage.ending.require(Cause.TERMINATED)
    await running
    assert (desk.report_taken.status, desk.report_taken.reason) == (Status.FAILED, Reason.RUNNER_TERMINATED)
    assert desk.names()[-1] == "complete"


async def test_a_shutdown_overtakes_a_patient_cancel(stage: Stage) -> None:
    desk = Desk(stage.job(steps("trap 'echo deaf' TERM; " + FOREVER)))
    stage.numbers = replace(NUMBERS, grace=timedelta(hours=1), hurry=timedelta(seconds=1))
    running = asyncio.create_task(stage.run(desk))
    await desk.logged("ready")
    desk.directive = Directive.CANCEL
    await desk.logged("deaf")
    stage.ending.require(Cause.TERMINATED)
    await running
    assert desk.report_taken.reason is Reason.RUNNER_TERMINATED


@pytest.mark.parametrize("call", ["heartbeat", "append_log"])
async def test_a_run_that_is_anothers_is_killed_deleted_and_not_reported(stage: Stage, call: str) -> None:
    desk = Desk(stage.job(steps("trap '' TERM; echo pid $$; while :; do echo tick; sleep 0.01; done")))
    running = asyncio.create_task(stage.run(desk))
    await desk.logged("tick")
    desk.refusing[call] = OwnershipLost()
    await running
    assert desk.names() == ["claim", "start"]
    assert [is_alive(pid) for pid in pids(desk.log)] == [False]
    assert stage.left() == []


async def test_commands_die_with_the_lease_and_nothing_is_reported(stage: Stage) -> None:
    stage.numbers = replace(NUMBERS, lease=timedelta(seconds=1))
    desk = Desk(stage.job(steps("trap '' TERM; echo pid $$; " + FOREVER)))
    running = asyncio.create_task(stage.run(desk))
    await desk.logged("ready")
    desk.refusing["heartbeat"] = Unavailable()
    await running
    assert desk.names() == ["claim", "start"]
    assert [is_alive(pid) for pid in pids(desk.log)] == [False]


async def test_a_result_that_is_known_outlives_the_lease(stage: Stage) -> None:
    stage.numbers = replace(NUMBERS, lease=timedelta(milliseconds=600))
    desk = Desk(stage.job(steps("true")))
    desk.refusing["report"] = Unavailable()
    running = asyncio.create_task(stage.run(desk))
    await desk.came("report")
    desk.refusing["heartbeat"] = Unavailable()
    await desk.came("report", 4)
    desk.refusing.clear()
    await running
    assert desk.took(Report)[-1].status is Status.PASSED
    assert desk.names()[-1] == "complete"
