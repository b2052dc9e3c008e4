"""One run from claim to complete: real git, real bash, a coordinator in memory."""

import asyncio
import re
from collections.abc import AsyncGenerator
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from services.kernel.adapters.clock import SystemClock, SystemIds
from services.kernel.errors import Ambiguous, Conflict, Invalid, OwnershipLost, Unavailable
from services.kernel.ids import RunId
from services.kernel.runs import Directive, Reason, Status, Verdict
from services.kernel.wire.runs import Claim, Complete, Heartbeat, Job, Report, Start
from services.runner.checkout.source import LOCAL
from services.runner.ending import Cause, Ending
from services.runner.execute import execute
from services.runner.logs import LogLimits
from services.runner.means import Means
from services.runner.numbers import Numbers
from services.runner.sandbox import TeardownFailed, Workspace
from services.runner.sandbox.port import Output
from services.runner.sandbox.process import ProcessSandbox
from tests.unit.runner.desk import RUN, Desk, job
from tests.unit.runner.origin import Origin
from tests.unit.runner.processes import is_alive

pytestmark = pytest.mark.anyio

TICK = timedelta(milliseconds=50)
NUMBERS = Numbers(
    heartbeat=TICK,
    lease=timedelta(seconds=10),
    grace=timedelta(seconds=10),
    log=LogLimits(every=timedelta(milliseconds=10)),
    last_words=timedelta(seconds=5),
)
FOREVER = "echo ready; while :; do sleep 0.01 || :; done"


def steps(*scripts: str, more: str = "") -> str:
    """A pipeline of these scripts, as steps named `one`, `two`, …"""
    names = ("one", "two", "three")
    listed = "".join(f"    - {{name: {name}, run: {script!r}}}\n" for name, script in zip(names, scripts, strict=False))
    return f"version: 1\nrun:\n  steps:\n{listed}{more}" if scripts else f"version: 1\nrun:\n  steps: []\n{more}"


class Stage:
    """A repository, a sandbox, and a run of its head."""

    def __init__(self, tmp_path: Path) -> None:
        self.origin = Origin.create(tmp_path / "origin")
        self.work = tmp_path / "work"
        self.ending = Ending()
        self.numbers = NUMBERS
        self.sandbox = ProcessSandbox(self.work, clock=SystemClock())

    def job(self, pipeline: str, **files: str) -> Job:
        """The job to run this pipeline."""
        return job(self.origin.url, sha=self.origin.commit({".anvil.yml": pipeline, **files}))

    async def run(self, desk: Desk) -> Verdict:
        means = Means(
            coordinator=desk,
            sandbox=self.sandbox,
            clock=SystemClock(),
            ids=SystemIds(),
            numbers=self.numbers,
            protocols=LOCAL,
        )
        async with asyncio.timeout(30):
            return (await execute(RUN, means, self.ending)).verdict

    def left(self) -> list[str]:
        return [path.name for path in self.work.iterdir()] if self.work.exists() else []


@pytest.fixture
async def stage(tmp_path: Path) -> AsyncGenerator[Stage]:
    stage = Stage(tmp_path)
    yield stage
    await stage.sandbox.close()


def pids(text: str) -> list[int]:
    """The processes that commands told of, as `pid 123`."""
    return [int(pid) for pid in re.findall(r"pid (\d+)", text)]


# What a run does


@pytest.mark.req("R25")
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


@pytest.mark.inv("S5")
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
    assert "heartbeat" in names[names.index("complete") : -1]
    assert names[-1] == "complete"


# How a run fails


async def test_the_first_failing_step_ends_the_run_with_its_exit_code(stage: Stage) -> None:
    desk = Desk(stage.job(steps("true", "exit 7", "echo never")))
    await stage.run(desk)
    report = desk.report_taken
    assert (report.status, report.reason, report.exit_code) == (Status.FAILED, Reason.STEP_FAILED, 7)
    assert [(step.status, step.exit_code) for step in report.steps] == [("passed", 0), ("failed", 7), ("skipped", None)]
    assert "never" not in desk.log


async def test_a_step_that_a_signal_ends_has_128_and_its_number_as_exit_code(stage: Stage) -> None:
    desk = Desk(stage.job(steps("kill -KILL $$")))
    await stage.run(desk)
    assert desk.report_taken.exit_code == 137


async def test_a_commit_that_is_gone_fails_the_checkout(stage: Stage) -> None:
    stage.origin.commit()
    desk = Desk(job(stage.origin.url, sha="1" * 40))
    await stage.run(desk)
    assert desk.names() == ["claim", "report", "complete"]
    assert (desk.report_taken.reason, desk.report_taken.exit_code) == (Reason.CHECKOUT_FAILED, None)
    assert desk.report_taken.detail == f"commit {'1' * 40} is not in the repository any more"


@pytest.mark.parametrize(
    ("pipeline", "detail"),
    [
        (
            steps("touch mark") + "    - {name: two}\n",
            ".anvil.yml: line 5: run.steps[1]: 'run' is missing",
        ),
        (
            steps("touch mark", more="  workingDirectory: nowhere\n"),
            ".anvil.yml: run.workingDirectory: there is no directory 'nowhere' in this commit",
        ),
    ],
)
async def test_an_invalid_config_fails_the_run_and_no_command_runs(stage: Stage, pipeline: str, detail: str) -> None:
    desk = Desk(stage.job(pipeline))
    await stage.run(desk)
    assert (desk.report_taken.reason, desk.report_taken.detail) == (Reason.CONFIG_INVALID, detail)
    assert "step 1" not in desk.log


async def test_a_working_directory_that_links_out_of_the_repository_is_refused(stage: Stage) -> None:
    (stage.origin.path / "out").symlink_to("/etc")
    desk = Desk(stage.job(steps("ls", more="  workingDirectory: out\n")))
    await stage.run(desk)
    assert desk.report_taken.detail == ".anvil.yml: run.workingDirectory: 'out' leads out of the repository"


async def test_a_step_whose_directory_a_step_removed_fails(stage: Stage) -> None:
    desk = Desk(stage.job(steps("rm -r ../app", "true", more="  workingDirectory: app\n"), **{"app/file": ""}))
    await stage.run(desk)
    assert desk.report_taken.reason is Reason.STEP_FAILED
    assert desk.report_taken.exit_code is None
    assert desk.report_taken.detail == "step 'two': the command could not be started: No such file or directory"


@pytest.mark.parametrize("limit", ["    timeoutSeconds: 1\n", "  timeoutSeconds: 1\n"])
async def test_a_step_or_run_that_takes_too_long_is_ended(stage: Stage, limit: str) -> None:
    pipeline = f"version: 1\nrun:\n  steps:\n  - name: one\n    run: 'sleep 300 & echo pid $!; wait'\n{limit}"
    desk = Desk(stage.job(pipeline))
    await stage.run(desk)
    report = desk.report_taken
    assert (report.status, report.reason, report.exit_code) == (Status.FAILED, Reason.TIMED_OUT, None)
    assert [step.status for step in report.steps] == ["failed"]
    assert "took longer than" in (report.detail or "")
    assert [is_alive(pid) for pid in pids(desk.log)] == [False]


async def test_a_run_limit_counts_the_checkout_too(stage: Stage) -> None:
    stage.numbers = replace(NUMBERS, run=timedelta(milliseconds=1))
    desk = Desk(stage.job(steps("true")))
    await stage.run(desk)
    assert desk.names() == ["claim", "report", "complete"]
    assert desk.report_taken.reason is Reason.TIMED_OUT


# How a run is ended from outside


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


async def test_a_cancel_in_the_answer_to_start_runs_nothing(stage: Stage) -> None:
    desk = Desk(stage.job(steps("echo never")))
    desk.directive = Directive.CANCEL
    await stage.run(desk)
    assert desk.report_taken.status is Status.CANCELED
    assert "never" not in desk.log


async def test_a_runner_that_is_shut_down_reports_that_and_completes_at_once(stage: Stage) -> None:
    desk = Desk(stage.job(steps("trap '' TERM; " + FOREVER)))
    stage.numbers = replace(NUMBERS, hurry=TICK)
    running = asyncio.create_task(stage.run(desk))
    await desk.logged("ready")
    stage.ending.require(Cause.TERMINATED)
    await running
    assert (desk.report_taken.status, desk.report_taken.reason) == (Status.FAILED, Reason.RUNNER_TERMINATED)
    assert desk.names()[-1] == "complete"


async def test_a_shutdown_overtakes_a_patient_cancel(stage: Stage) -> None:
    desk = Desk(stage.job(steps("trap 'echo deaf' TERM; " + FOREVER)))
    stage.numbers = replace(NUMBERS, grace=timedelta(hours=1), hurry=TICK)
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


# Calls that go wrong


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

    async def open(self, run: RunId, *, output: Output) -> Workspace:
        workspace = await super().open(run, output=output)
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
