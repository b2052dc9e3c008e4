"""A runner or a coordinator that is stopped for a while and comes back: no two runs of a project are ever alive."""

import os
import signal
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import replace

import httpx2
import pytest

from services.kernel.adapters.clock import SystemClock
from services.kernel.adapters.local_minter import LocalMinter
from services.kernel.runs import Reason, Status
from services.local import addresses, identities
from services.local.addresses import Service
from services.local.program import programs
from services.local.supervisor import supervised
from tests.e2e.runner.life import NUMBERS, STALE, Life, boottime, send
from tests.unit.runner.processes import until

pytestmark = [pytest.mark.anyio, pytest.mark.timeout(180)]

MASTER_TOO = pytest.param(True, marks=pytest.mark.soak)


@pytest.mark.inv("Q8")
@pytest.mark.parametrize("with_its_master", [False, MASTER_TOO])
async def test_a_stopped_runner_s_commands_are_dead_before_the_takeover_and_it_changes_nothing_later(
    life: Life, *, with_its_master: bool
) -> None:
    run = await life.begun()
    stopped = [life.worker, *([life.master] if with_its_master else [])]
    send(signal.SIGSTOP, stopped)
    at = boottime()
    try:
        await until(lambda: not life.left())
        assert boottime() - at < STALE
        assert not (await life.workplace.api.run(run)).run.status.terminal
        view = await life.workplace.finished(run)
        assert (view.run.status, view.reason) == (Status.FAILED, Reason.RUNNER_LOST)
        before = await life.everything(run)
    finally:
        send(signal.SIGCONT, stopped)
    await life.next_passes()
    assert await life.everything(run) == before


@pytest.mark.soak
async def test_a_runner_that_stays_stopped_is_replaced_and_changes_nothing(life: Life) -> None:
    run = await life.begun()
    stopped = life.worker
    send(signal.SIGSTOP, [stopped])
    view = await life.workplace.finished(run)
    assert (view.run.status, view.reason) == (Status.FAILED, Reason.RUNNER_LOST)
    before = await life.everything(run)
    await life.next_passes()
    assert life.worker != stopped
    assert await life.everything(run) == before


@pytest.mark.req("R26")
@pytest.mark.parametrize("killed", [False, pytest.param(True, marks=pytest.mark.soak)])
async def test_a_coordinator_that_was_away_for_longer_than_the_stale_limit_lets_no_two_runs_meet(
    life: Life, *, killed: bool
) -> None:
    first = await life.begun()
    second = await life.workplace.run_of(life.workplace.push(life.workplace.commit(life.on_the_record())))
    coordinator = life.stack.pid(Service.COORDINATOR)
    os.killpg(coordinator, signal.SIGSTOP)
    at = boottime()
    try:
        await until(lambda: not life.left())
        assert boottime() - at < STALE
        await until(lambda: boottime() - at > STALE)
    finally:
        os.killpg(coordinator, signal.SIGKILL if killed else signal.SIGCONT)
    if killed:
        await life.reports.until("coordinator is back")
    view = await life.workplace.finished(first)
    assert (view.run.status, view.reason) == (Status.FAILED, Reason.RUNNER_LOST)
    await life.recorded(second)
    life.workplace.gate.touch()
    assert (await life.workplace.finished(second)).run.status is Status.PASSED
    alive = life.intervals()
    assert alive[first][1] < alive[second][0]


@asynccontextmanager
async def another_runner(life: Life) -> AsyncGenerator[str]:
    """The URL of a second runner in the same stack, whom only the test hands runs."""
    ports = replace(life.stack.addresses, runner=addresses.choose(0).runner)
    own = {**NUMBERS, "ANVIL_WORK_DIR": f"{life.stack.state.work}/another"}
    plan = programs(
        frozenset({Service.RUNNER}),
        state=life.stack.state,
        addresses=ports,
        inherited=os.environ,
        overrides={Service.RUNNER: own},
    )
    async with supervised(plan, report=life.reports):
        yield ports.url(Service.RUNNER)


async def hand_over(life: Life, url: str, run: str) -> httpx2.Response:
    """Tell a runner of a run, as the task queue does."""
    minter = LocalMinter(
        life.stack.state.issuer_key, email=identities.TASKS, issuer=identities.ISSUER, clock=SystemClock()
    )
    token = await minter.mint(identities.RUNNER_AUDIENCE)
    async with httpx2.AsyncClient(timeout=60, trust_env=False) as http:
        return await http.post(
            f"{url}/tasks/run", json={"run": run, "dispatch": 1}, headers={"Authorization": f"Bearer {token.value}"}
        )


@pytest.mark.inv("Q7")
async def test_another_runner_executes_nothing_while_a_stopped_one_s_commands_are_alive(life: Life) -> None:
    async with another_runner(life) as other:
        first = await life.begun()
        second = await life.workplace.run_of(life.workplace.push(life.workplace.commit(life.on_the_record())))
        stopped = [life.worker, life.master]
        send(signal.SIGSTOP, stopped)
        try:
            early = await hand_over(life, other, second)
            assert early.json()["verdict"] == "not_currently_executable"
            await life.workplace.finished(first)
            life.workplace.gate.touch()
            await hand_over(life, other, second)
        finally:
            send(signal.SIGCONT, stopped)
        assert (await life.workplace.finished(second)).run.status is Status.PASSED
    alive = life.intervals()
    assert alive[first][1] < alive[second][0]
