"""`anvil run`: start, watch, read, cancel, and exit with the run's result."""

import asyncio
import json
import signal
import subprocess

import anyio
import anyio.lowlevel
import pytest

from services.kernel.errors import AnvilError, NotRerunnable, QueueFull, Unavailable
from services.kernel.runs import Status
from services.kernel.wire import api
from services.kernel.wire.runs import StartRun
from tests.unit.cli.conftest import Anvil
from tests.unit.cli.ingress import RUN, Ingress, run_view

pytestmark = pytest.mark.anyio


async def test_start_prints_the_run_and_nothing_else_on_stdout(anvil: Anvil, ingress: Ingress) -> None:
    result = await anvil("run", "start", "--branch", "feature/x")
    assert (result.code, result.out) == (0, f"{RUN}\n")
    assert ingress.of(api.START_RUN) == [StartRun(branch="feature/x")]


async def test_each_start_has_a_key_of_its_own_unless_one_is_given(anvil: Anvil, ingress: Ingress) -> None:
    await anvil("run", "start")
    await anvil("run", "start")
    await anvil("run", "start", "--idempotency-key", "nightly-1")
    assert len(set(ingress.keys)) == 3
    assert ingress.keys[2] == "nightly-1"


async def test_a_start_whose_answer_got_lost_says_how_to_ask_again(anvil: Anvil, ingress: Ingress) -> None:
    ingress.errors[api.START_RUN.summary] = AnvilError("boom")
    result = await anvil("run", "start", "--idempotency-key", "nightly-1")
    assert result.code == 8
    assert "--idempotency-key nightly-1" in result.err
    assert len(ingress.of(api.START_RUN)) == 1


async def test_a_full_queue_has_a_code_of_its_own(anvil: Anvil, ingress: Ingress) -> None:
    ingress.errors[api.START_RUN.summary] = QueueFull()
    result = await anvil("run", "start")
    assert (result.code, result.err) == (9, "anvil: The project's queue is full; nothing was created.\n")


@pytest.mark.parametrize(("status", "code"), [(Status.PASSED, 0), (Status.FAILED, 5), (Status.CANCELED, 3)])
async def test_watch_exits_with_the_result_of_the_run(
    anvil: Anvil, ingress: Ingress, status: Status, code: int
) -> None:
    ingress.views = [run_view(status)]
    assert (await anvil("run", "watch", RUN)).code == code


async def test_watch_waits_for_its_turn_and_then_shows_the_whole_log(anvil: Anvil, ingress: Ingress) -> None:
    ingress.views = [
        run_view(Status.QUEUED, place=2),
        run_view(Status.RUNNING),
        run_view(Status.FAILED, detail="step 1"),
    ]
    ingress.log, ingress.log_part = "── step 1/1: test\nnötig\n".encode(), 22
    result = await anvil("run", "watch", RUN)
    assert (result.code, result.out) == (5, "── step 1/1: test\nnötig\n")
    assert result.err.splitlines() == [
        f"{RUN} is queued, place 2",
        f"{RUN} is running",
        f"{RUN} is failed",
        "step 1",
    ]


async def test_watch_gives_up_after_its_time_and_the_run_goes_on(anvil: Anvil, ingress: Ingress) -> None:
    ingress.views = [run_view(Status.QUEUED, place=1)]
    result = await anvil("run", "watch", RUN, "--timeout", "1s")
    assert result.code == 3
    assert f"{RUN} is still queued" in result.err
    assert ingress.of(api.CANCEL_RUN) == []


async def test_watch_bears_that_ingress_is_away_for_a_moment(anvil: Anvil, ingress: Ingress) -> None:
    ingress.errors[api.GET_RUN.summary] = Unavailable("the store is away")

    async def come_back() -> None:
        while not ingress.of(api.GET_RUN):
            await anyio.lowlevel.checkpoint()
        del ingress.errors[api.GET_RUN.summary]

    coming_back = asyncio.create_task(come_back())
    result = await anvil("run", "watch", RUN)
    await coming_back
    assert result.code == 0
    assert result.err.splitlines() == ["the store is away; asking again", f"{RUN} is passed"]


async def test_an_interrupted_watch_leaves_the_run_alone(anvil: Anvil, ingress: Ingress) -> None:
    ingress.views = [run_view(Status.RUNNING)]
    async with await anyio.open_process(
        anvil.command("run", "watch", RUN), env=anvil.variables(), cwd=anvil.working, stderr=subprocess.DEVNULL
    ) as process:
        while not ingress.of(api.GET_RUN):
            await anyio.lowlevel.checkpoint()
        process.send_signal(signal.SIGINT)
        assert await process.wait() == 130
    assert ingress.of(api.CANCEL_RUN) == []


async def test_start_and_watch_is_one_command(anvil: Anvil, ingress: Ingress) -> None:
    ingress.views, ingress.log = [run_view(Status.FAILED)], b"no\n"
    result = await anvil("run", "start", "--watch", "--quiet")
    assert (result.code, result.out, result.err) == (5, "no\n", "")


async def test_logs_show_what_there_is(anvil: Anvil, ingress: Ingress) -> None:
    ingress.views, ingress.log, ingress.log_part = [run_view(Status.RUNNING)], b"one\ntwo\n", 5
    result = await anvil("run", "logs", RUN)
    assert (result.code, result.out, result.err) == (0, "one\ntwo\n", "")


async def test_followed_logs_do_not_end_with_the_run_s_result(anvil: Anvil, ingress: Ingress) -> None:
    ingress.views, ingress.log = [run_view(Status.RUNNING), run_view(Status.FAILED)], b"one\n"
    result = await anvil("run", "logs", "--follow", RUN)
    assert (result.code, result.out) == (0, "one\n")


async def test_logs_for_programs_are_one_document(anvil: Anvil, ingress: Ingress) -> None:
    ingress.log, ingress.log_part = b"one\ntwo\n", 4
    result = await anvil("run", "logs", RUN, "--format", "json")
    assert json.loads(result.out) == {"data": {"text": "one\ntwo\n", "cursor": 8, "complete": True}}


async def test_show_has_the_steps_and_the_end_of_the_log(anvil: Anvil, ingress: Ingress) -> None:
    result = await anvil("run", "show", RUN)
    assert result.code == 0
    lines = result.out.splitlines()
    assert [lines[0].split(), lines[-1]] == [["run", "id", RUN], "the end"]


async def test_only_a_finished_run_runs_again(anvil: Anvil, ingress: Ingress) -> None:
    assert (await anvil("run", "rerun", RUN)).out == f"{RUN}\n"
    ingress.errors[api.RERUN.summary] = NotRerunnable()
    assert (await anvil("run", "rerun", RUN)).code == 1


async def test_cancel_shows_the_run(anvil: Anvil, ingress: Ingress) -> None:
    ingress.views = [run_view(Status.CANCEL_REQUESTED)]
    result = await anvil("run", "cancel", RUN, "--format", "json")
    assert json.loads(result.out)["data"]["run"]["status"] == "cancel_requested"
