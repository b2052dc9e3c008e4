"""A cancel at every status of the moves table: what it is answered, and how the run ends."""

import pytest

from services.kernel.runs import Status
from services.kernel.wire.runs import RunView
from tests.e2e.runner.between import Where
from tests.e2e.runner.life import Life
from tests.e2e.stack.workplace import SOON
from tests.unit.runner.processes import until

pytestmark = [pytest.mark.anyio, pytest.mark.timeout(120)]


async def canceled(life: Life, run: str) -> RunView:
    """How a canceled run ends; nothing of it is left."""
    view = await life.workplace.finished(run)
    await until(lambda: not life.left())
    return view


async def test_a_cancel_of_queued_runs_ends_them_at_once_and_they_never_execute(life: Life) -> None:
    push = life.workplace.push(life.workplace.commit(life.on_the_record()))
    with life.between.holding("claim") as hold:
        executable = await life.workplace.run_of(push)
        pending = await life.workplace.run_of(life.workplace.push(push.commit_sha))
        await hold.came.wait()
        for run in (pending, executable):
            assert (await life.workplace.api.run(run)).run.status is Status.QUEUED
            assert (await life.workplace.api.cancel(run)).run.status is Status.CANCELED
        hold.let_go()
        await life.next_passes()
    assert not life.record.exists()


@pytest.mark.parametrize("where", [Where.ASKED, pytest.param(Where.ANSWERED, marks=pytest.mark.soak)])
async def test_a_cancel_before_the_first_command_lets_none_begin(life: Life, where: Where) -> None:
    push = life.workplace.push(life.workplace.commit(life.on_the_record()))
    with life.between.holding("heartbeat"), life.between.holding("start", where=where) as hold:
        run = await life.workplace.run_of(push)
        await hold.came.wait()
        found = Status.STARTING if where is Where.ASKED else Status.RUNNING
        assert (await life.workplace.api.run(run)).run.status is found
        assert (await life.workplace.api.cancel(run)).run.status is Status.CANCEL_REQUESTED
        hold.let_go()
        if where is Where.ASKED:
            assert (await canceled(life, run)).run.status is Status.CANCELED
    assert (await canceled(life, run)).run.status is Status.CANCELED
    assert where is Where.ANSWERED or not life.record.exists()


async def test_a_cancel_of_a_running_run_is_canceling_once_its_runner_knows_and_asking_again_changes_nothing(
    life: Life,
) -> None:
    stubborn = f"trap '' TERM\n{life.on_the_record()}"
    run = await life.workplace.run_of(life.workplace.push(life.workplace.commit(stubborn)))
    await life.recorded(run)
    with life.between.holding("heartbeat", run) as hold:
        await hold.came.wait()
        for _ in range(2):
            assert (await life.workplace.api.cancel(run)).run.status is Status.CANCEL_REQUESTED
        hold.let_go()
    await life.workplace.api.until(run, lambda view: view.run.status is Status.CANCELING, within=SOON)
    assert (await life.workplace.api.cancel(run)).run.status is Status.CANCELING
    view = await canceled(life, run)
    assert (view.run.status, view.reason, view.run.exit_code) == (Status.CANCELED, None, None)
    assert [step.status for step in view.steps] == ["canceled"]


async def test_a_cancel_after_the_report_changes_nothing(life: Life) -> None:
    with life.between.holding("complete") as hold:
        run = await life.workplace.run_of(life.workplace.push(life.workplace.commit("true")))
        await hold.came.wait()
        assert (await life.workplace.api.cancel(run)).run.status is Status.RUNNING
        hold.let_go()
    assert (await life.workplace.finished(run)).run.status is Status.PASSED


@pytest.mark.parametrize(("script", "end"), [("true", Status.PASSED), ("exit 3", Status.FAILED)])
async def test_a_cancel_of_a_run_that_has_ended_changes_nothing(life: Life, script: str, end: Status) -> None:
    run = await life.workplace.run_of(life.workplace.push(life.workplace.commit(script)))
    assert (await life.workplace.finished(run)).run.status is end
    before = await life.everything(run)
    assert (await life.workplace.api.cancel(run)) == before[0]
    assert await life.everything(run) == before


async def test_a_cancel_before_the_report_wins_over_a_step_that_passed(life: Life) -> None:
    run = await life.begun()
    with life.between.holding("report", run) as hold:
        with life.between.holding("heartbeat", run):
            await life.workplace.api.cancel(run)
            life.workplace.gate.touch()
            await hold.came.wait()
        hold.let_go()
    view = await canceled(life, run)
    assert (view.run.status, view.reason) == (Status.CANCELED, None)
