"""A runner claims a run, drives it and ends it; whoever does not own it changes nothing."""

import asyncio

import pytest

from services.coordinator.records.project import PROJECTS
from services.coordinator.records.run import HEARTBEATS, RUNS
from services.kernel.errors import OwnershipLost
from services.kernel.runs import Directive, Status, Verdict
from services.kernel.wire.runs import StepStatus
from tests.unit.coordinator.builders import OTHER_SHA, PROJECT_ID, REPOSITORY, SHA, run_id, seconds
from tests.unit.coordinator.driver import Driver, token
from tests.unit.coordinator.instance import Instance
from tests.unit.kernel.world import MovableClock

pytestmark = pytest.mark.anyio


@pytest.mark.inv("Q13")
async def test_of_two_instances_that_are_asked_at_once_one_gives_the_run_away(anvil: Driver, another: Driver) -> None:
    await anvil.push(1)
    answers = await asyncio.gather(
        *(driver.claim(1, attempt=number) for number, driver in enumerate([anvil, another] * 3, start=1))
    )

    assert sorted(answer.verdict for answer in answers) == [Verdict.EXECUTE, *[Verdict.RUN_ACTIVE] * 5]
    assert [answer.job is not None for answer in answers].count(True) == 1


async def test_a_claim_whose_answer_was_lost_is_answered_the_same_on_any_instance(
    anvil: Driver, another: Driver
) -> None:
    await anvil.push(1)

    assert await anvil.claim(1) == await another.claim(1)


async def test_a_repeated_claim_renews_nothing(anvil: Driver, home: Instance) -> None:
    await anvil.push(1)
    await anvil.claim(1)
    await home.settle()
    home.store.forget()
    await anvil.claim(1)

    assert home.store.commits == []


async def test_a_webhooks_job_names_the_pushed_commit_though_the_branch_moved(anvil: Driver) -> None:
    await anvil.push(1)
    await anvil.push(2)
    job = (await anvil.claim(1)).job

    assert job is not None
    assert (job.commit_sha, job.branch, job.repository_url) == (SHA, "main", REPOSITORY)
    assert (job.project, job.project_id, job.config_path) == ("site", PROJECT_ID, ".anvil.yml")


async def test_a_manual_job_names_no_commit(anvil: Driver) -> None:
    await anvil.ask_for_run(1, branch="feature")
    job = (await anvil.claim(1)).job

    assert job is not None
    assert (job.commit_sha, job.branch) == (None, "feature")


@pytest.mark.req("R16")
async def test_the_commit_of_a_manual_run_is_known_everywhere_before_its_commands_begin(
    anvil: Driver, home: Instance
) -> None:
    await anvil.ask_for_run(1)
    await anvil.claim(1)
    before = [(await anvil.show(1)).run.commit_sha, (await anvil.listed())[0].commit_sha]
    await anvil.start(1, sha=OTHER_SHA)
    project = await home.stored(PROJECTS, PROJECT_ID)

    assert before == [None, None]
    assert project.active is not None
    assert project.active.commit_sha == OTHER_SHA
    assert (await anvil.show(1)).run.commit_sha == OTHER_SHA
    assert (await anvil.listed())[0].commit_sha == OTHER_SHA


async def test_a_run_goes_from_its_claim_to_its_end(anvil: Driver, clock: MovableClock) -> None:
    await anvil.push(1)
    seen = [(await anvil.show(1)).run.status]
    await anvil.claim(1)
    seen.append((await anvil.show(1)).run.status)
    await anvil.start(1)
    seen.append((await anvil.show(1)).run.status)
    clock.move(seconds(7))
    await anvil.report(1)
    seen.append((await anvil.show(1)).run.status)
    await anvil.complete(1)
    ended = (await anvil.show(1)).run

    assert seen == [Status.QUEUED, Status.STARTING, Status.RUNNING, Status.RUNNING]
    assert (ended.status, ended.exit_code, ended.finished_at) == (Status.PASSED, 0, clock.now())
    assert ended.started_at == clock.now() - seconds(7)


async def test_the_end_and_the_next_ones_turn_are_one_commit(anvil: Driver, home: Instance) -> None:
    await anvil.push(1)
    await anvil.push(2)
    await anvil.begin(1)
    await anvil.report(1)
    await home.settle()
    home.store.forget()
    await anvil.complete(1)
    first = {(write.ref.collection, write.ref.id) for write in home.store.commits[0]}

    assert first == {
        ("projects", PROJECT_ID),
        ("runs", run_id(1)),
        ("heartbeats", run_id(1)),
        ("runs", run_id(2)),
    }
    assert home.tasks.handed_over() == [(run_id(1), 1), (run_id(2), 1)]


@pytest.mark.req("C24")
async def test_a_heartbeat_does_not_touch_the_project(anvil: Driver, home: Instance, clock: MovableClock) -> None:
    await anvil.push(1)
    await anvil.begin(1)
    await home.settle()
    clock.move(seconds(10))
    home.store.forget()

    assert await anvil.beat(1) is Directive.CONTINUE
    assert home.store.committed() == [{"heartbeats"}]
    assert (await home.stored(HEARTBEATS, run_id(1))).at == clock.now()


async def test_a_heartbeat_shows_how_far_the_steps_are(anvil: Driver) -> None:
    steps = (StepStatus(name="test", status="passed", exit_code=0), StepStatus(name="pack", status="running"))
    await anvil.push(1)
    await anvil.begin(1)
    await anvil.beat(1, steps=steps)
    await anvil.beat(1)

    assert (await anvil.show(1)).steps == steps


async def test_a_token_is_not_stored(anvil: Driver, home: Instance) -> None:
    await anvil.push(1)
    await anvil.begin(1)
    await home.settle()
    written = [repr(write) for writes in home.store.commits for write in writes]

    assert all(token(1) not in text for text in written)
    assert len((await home.stored(RUNS, run_id(1))).attempt_hash or "") == 64


@pytest.mark.inv("S7")
@pytest.mark.parametrize("number", [1, 2])
async def test_a_run_that_is_not_there_or_another_attempts_is_nobodys_to_change(
    anvil: Driver, home: Instance, number: int
) -> None:
    await anvil.push(1)
    await anvil.begin(1)
    await home.settle()
    home.store.forget()
    for ask in (anvil.start, anvil.beat, anvil.report, anvil.complete):
        with pytest.raises(OwnershipLost):
            await ask(number, attempt=2)

    assert home.store.commits == []


async def test_an_end_whose_answer_was_lost_may_be_told_again(anvil: Driver, another: Driver) -> None:
    await anvil.push(1)
    await anvil.begin(1)
    await anvil.finish(1)
    await another.report(1, Status.FAILED)
    await another.complete(1)

    assert (await anvil.show(1)).run.status is Status.PASSED
