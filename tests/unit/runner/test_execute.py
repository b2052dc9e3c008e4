"""One run from claim to complete: what it does."""

import asyncio

import pytest

from services.kernel.errors import Conflict, Unavailable
from services.kernel.runs import Reason, Status, Verdict
from services.kernel.wire.runs import Complete, Heartbeat, Start
from services.runner.ending import Cause
from tests.unit.runner.desk import RUN, Desk, job
from tests.unit.runner.stage import FOREVER, Stage, steps

pytestmark = pytest.mark.anyio


async def test_a_passing_run_is_claimed_started_reported_torn_down_and_completed(stage: Stage) -> None:
    desk = Desk(stage.job(steps("echo hello", "cat .anvil.yml > /dev/null")))
    assert await stage.run(desk) is Verdict.EXECUTE
    assert desk.names() == ["claim", "start", "report", "complete"]
    report = desk.report_taken
    assert (report.status, report.reason, report.exit_code, report.detail) == (Status.PASSED, None, 0, None)
    assert [(step.name, step.status, step.exit_code) for step in report.steps] == [
        ("one", "passed", 0),
        ("two", "passed", 0),
    ]
    assert desk.took(Complete)[0].teardown_complete is True
    assert stage.left() == []


@pytest.mark.inv("Q7")
async def test_a_run_is_completed_only_when_nothing_of_it_is_left(stage: Stage) -> None:
    desk = Desk(stage.job(steps("true")))
    left: dict[str, list[str]] = {}
    desk.watch = lambda name: left.update({name: stage.left()})
    await stage.run(desk)
    assert (left["report"], left["complete"]) == ([RUN], [])


async def test_the_log_tells_the_run_in_order(stage: Stage) -> None:
    wanted = stage.job(steps("echo hello; echo oops >&2; printf unfinished", "exit 3"))
    desk = Desk(wanted)
    await stage.run(desk)
    assert desk.log == (
        f"── checkout: {wanted.commit_sha} of {stage.origin.url}\n"
        f"── commit {wanted.commit_sha}\n"
        "── step 1/2: one\n"
        "hello\noops\nunfinished\n"
        "── step 2/2: two\n"
        "── failed: step 'two' ended with exit code 3\n"
    )


async def test_a_pipeline_without_steps_passes(stage: Stage) -> None:
    desk = Desk(stage.job(steps()))
    await stage.run(desk)
    assert (desk.report_taken.status, desk.report_taken.exit_code) == (Status.PASSED, 0)


async def test_commands_are_told_what_they_run_for(stage: Stage) -> None:
    shown = "echo $CI $ANVIL $ANVIL_RUN_ID $ANVIL_PROJECT $ANVIL_BRANCH $ANVIL_COMMIT_SHA $LEVEL; git rev-parse HEAD"
    wanted = stage.job(steps(shown, more="  env: {LEVEL: full}\n"))
    desk = Desk(wanted)
    await stage.run(desk)
    assert f"true true {RUN} demo main {wanted.commit_sha} full\n{wanted.commit_sha}\n" in desk.log


async def test_commands_run_in_the_working_directory(stage: Stage) -> None:
    desk = Desk(stage.job(steps("cat here", more="  workingDirectory: app/web\n"), **{"app/web/here": "found it\n"}))
    await stage.run(desk)
    assert "found it\n" in desk.log


async def test_no_command_runs_before_the_start_of_exactly_that_commit_is_accepted(stage: Stage) -> None:
    mark = stage.work.parent / "mark"
    wanted = stage.job(steps(f"touch {mark}"))
    desk = Desk(wanted)
    desk.refusing["start"] = Conflict("for another commit")
    await stage.run(desk)
    assert desk.took(Start)[0].commit_sha == wanted.commit_sha
    assert desk.report_taken.reason is Reason.CHECKOUT_FAILED
    assert desk.report_taken.detail == f"commit {wanted.commit_sha} was not accepted: for another commit"
    assert not mark.exists()


@pytest.mark.req("R15")
async def test_the_commit_of_a_manual_run_is_told_before_the_config_is_even_read(stage: Stage) -> None:
    head = stage.origin.commit({".anvil.yml": "nonsense"})
    desk = Desk(job(stage.origin.url))
    await stage.run(desk)
    assert desk.took(Start)[0].commit_sha == head
    assert desk.report_taken.reason is Reason.CONFIG_INVALID


async def test_heartbeats_tell_how_far_the_steps_are(stage: Stage) -> None:
    desk = Desk(stage.job(steps("true", FOREVER, "true")))
    running = asyncio.create_task(stage.run(desk))
    await desk.logged("ready")
    await desk.came("heartbeat", len(desk.took(Heartbeat)) + 2)
    told = desk.took(Heartbeat)[-1].steps or ()
    assert [step.status for step in told] == ["passed", "running", "pending"]
    stage.ending.require(Cause.TERMINATED)
    await running


async def test_heartbeats_go_on_until_the_end_is_accepted(stage: Stage) -> None:
    desk = Desk(stage.job(steps("true")))
    desk.fail("complete", Unavailable(), Unavailable())
    await stage.run(desk)
    names = [name for name, _ in desk.calls]
    assert "heartbeat" in names[names.index("complete") :]
    assert [name for name in names if name != "heartbeat"][-1] == "complete"


async def test_the_last_word_of_the_log_is_how_the_run_ended(stage: Stage) -> None:
    desk = Desk(stage.job(steps("(while :; do echo tick; sleep 0.01; done) & sleep 0.1")))
    await stage.run(desk)
    assert "tick" in desk.log
    assert desk.log.endswith("── passed\n")
