"""Any process may end at any time; what was acknowledged is done all the same."""

import os
import signal

import pytest

from services.kernel.runs import Reason, Status
from services.local.addresses import Service
from services.local.stack import Stack
from tests.e2e.stack.workplace import Workplace
from tests.unit.local.reports import Reports

pytestmark = pytest.mark.anyio


@pytest.mark.parametrize("service", [Service.COORDINATOR, Service.INGRESS, Service.PLATFORM])
@pytest.mark.parametrize("how", [pytest.param(signal.SIGTERM, marks=pytest.mark.soak), signal.SIGKILL])
async def test_a_restart_of_another_part_in_the_middle_of_a_run_loses_nothing(
    running: Stack, reports: Reports, workplace: Workplace, service: Service, how: signal.Signals
) -> None:
    first = await workplace.run_of(workplace.push(workplace.commit(workplace.waits_at_the_gate)))
    await workplace.running(first)
    second = await workplace.run_of(workplace.push(workplace.commit("echo the next one")))
    os.kill(running.pid(service), how)
    await reports.until(f"{service} is back")
    workplace.gate.touch()
    for run in (first, second):
        view = await workplace.finished(run)
        assert (view.run.status, view.run.exit_code) == (Status.PASSED, 0)
    log, _ = await workplace.api.log(first)
    assert "through" in log


async def test_a_killed_runner_s_run_ends_as_lost_and_the_next_one_runs(
    running: Stack, reports: Reports, workplace: Workplace
) -> None:
    lost = await workplace.run_of(workplace.push(workplace.commit(workplace.waits_at_the_gate)))
    await workplace.running(lost)
    following = await workplace.run_of(workplace.push(workplace.commit("echo the next one")))
    os.killpg(running.pid(Service.RUNNER), signal.SIGKILL)
    view = await workplace.finished(lost)
    assert (view.run.status, view.run.reason) == (Status.FAILED, Reason.RUNNER_LOST)
    await reports.until("runner is back")
    assert (await workplace.finished(following)).run.status is Status.PASSED


async def test_a_stopped_runner_says_so_and_its_run_is_not_run_again(
    running: Stack, reports: Reports, workplace: Workplace
) -> None:
    run = await workplace.run_of(workplace.push(workplace.commit(workplace.waits_at_the_gate)))
    await workplace.running(run)
    os.kill(running.pid(Service.RUNNER), signal.SIGTERM)
    view = await workplace.finished(run)
    assert (view.run.status, view.run.reason) == (Status.FAILED, Reason.RUNNER_TERMINATED)
    await reports.until("runner is back")
