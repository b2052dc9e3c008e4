"""One run from claim to complete: how it fails."""

from dataclasses import replace
from datetime import timedelta

import pytest

from services.kernel.runs import Reason, Status
from tests.unit.runner.desk import Desk, job
from tests.unit.runner.processes import is_alive
from tests.unit.runner.stage import NUMBERS, Stage, pids, steps

pytestmark = pytest.mark.anyio


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
