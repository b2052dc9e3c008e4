"""The runner over HTTP, as a process that may be told to go."""

import asyncio
import os
import re
import signal
from datetime import timedelta

import httpx2
import pytest

from services.kernel.errors import Unavailable
from services.kernel.runs import Reason, Status
from services.kernel.wire.runs import Complete
from tests.e2e.runner.conftest import Site
from tests.e2e.runner.life import boottime, is_asked, silent
from tests.unit.runner.desk import job
from tests.unit.runner.processes import is_alive, until

pytestmark = pytest.mark.anyio


async def test_a_task_runs_a_commit_and_is_answered_when_the_run_has_ended(site: Site) -> None:
    site.go.touch()
    answer = await site.runner.task()
    assert (answer.status_code, answer.json()["verdict"]) == (200, "execute")
    assert site.desk.names() == ["claim", "start", "report", "complete"]
    assert site.desk.report_taken.status is Status.PASSED
    assert "── step 1/2: greet\nhello\n" in site.desk.log


async def test_what_an_earlier_runner_left_behind_is_gone_before_the_first_run(site: Site) -> None:
    assert os.listdir(site.work) == []


@pytest.mark.threat("A42")
async def test_only_the_task_queue_may_hand_over_runs(site: Site) -> None:
    strangers = [
        await site.runner.task(email="hooks@anvil.local"),
        await site.runner.task(audience="anvil-coordinator"),
        await site.runner.http.post(f"{site.runner.url}/tasks/run", json={"run": "x"}),
    ]
    assert [(answer.status_code, answer.json()["code"]) for answer in strangers] == [
        (403, "forbidden"),
        (401, "unauthenticated"),
        (401, "unauthenticated"),
    ]
    assert site.desk.calls == []


async def test_a_second_task_is_turned_away_and_a_lost_connection_ends_no_run(site: Site) -> None:
    first = asyncio.create_task(site.runner.task())
    await site.desk.logged("ready")
    second = await site.runner.task()
    assert (second.status_code, second.json()["code"], second.json()["retryable"]) == (503, "busy", True)
    first.cancel()
    with pytest.raises(asyncio.CancelledError):
        await first
    site.go.touch()
    await site.desk.came("complete")
    assert site.desk.names() == ["claim", "start", "report", "complete"]
    assert site.desk.report_taken.status is Status.PASSED


@pytest.mark.parametrize("waited_for", [True, False])
async def test_a_runner_that_is_told_to_go_ends_its_run_first(site: Site, *, waited_for: bool) -> None:
    task = asyncio.create_task(site.runner.task())
    await site.desk.logged("ready")
    if not waited_for:
        task.cancel()
    site.runner.process.send_signal(signal.SIGTERM)
    assert await site.runner.ended() == 0
    (answer,) = await asyncio.gather(task, return_exceptions=True)
    if waited_for:
        assert isinstance(answer, httpx2.Response)
        assert answer.status_code == 200
    assert (site.desk.report_taken.status, site.desk.report_taken.reason) == (Status.FAILED, Reason.RUNNER_TERMINATED)
    assert site.desk.took(Complete)[0].teardown_complete is True
    assert [is_alive(int(pid)) for pid in re.findall(r"pid (\d+)", site.desk.log)] == [False]
    assert os.listdir(site.work) == []


@pytest.mark.parametrize("when", ["checkout", "last words"])
async def test_a_runner_that_is_told_to_go_is_gone_within_eight_seconds_whatever_it_is_at(
    site: Site, *, when: str
) -> None:
    with silent() as server:
        if when == "checkout":
            site.desk.give(job(f"http://127.0.0.1:{server.getsockname()[1]}/silent.git"))
            begun = asyncio.create_task(until(lambda: is_asked(server)))
        else:
            site.go.touch()
            site.desk.refusing["append_log"] = Unavailable()
            begun = asyncio.create_task(site.desk.came("report"))
        task = asyncio.create_task(site.runner.task())
        await begun
        at = boottime()
        site.runner.process.send_signal(signal.SIGTERM)
        assert await site.runner.ended() == 0
        assert boottime() - at < timedelta(seconds=8)
        assert (await task).status_code == 200
    assert site.desk.report_taken.reason is (Reason.RUNNER_TERMINATED if when == "checkout" else None)
    assert site.desk.names()[-1] == "complete"
    assert os.listdir(site.work) == []
