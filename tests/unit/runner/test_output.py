"""Whatever commands write, and however fast: it is bounded, it is in order, and it decides nothing."""

import asyncio
from dataclasses import replace
from datetime import timedelta

import pytest

from services.kernel.adapters.clock import SystemClock
from services.kernel.errors import Unavailable
from services.kernel.ids import RunId
from services.kernel.runs import Reason, Status
from services.kernel.wire.runs import AppendLog, Heartbeat
from services.runner.logs import LogLimits
from tests.unit.runner.desk import Desk
from tests.unit.runner.stage import NUMBERS, Stage, steps

pytestmark = pytest.mark.anyio

MIB = 1024 * 1024
WHOLE_LOG = 8 * MIB


async def test_tens_of_megabytes_without_a_line_s_end_are_one_short_line(stage: Stage) -> None:
    desk = Desk(stage.job(steps("head -c 40000000 /dev/zero | tr '\\0' x; echo; echo after")))
    await stage.run(desk)
    assert desk.report_taken.status is Status.PASSED
    assert max(map(len, desk.log.splitlines())) <= 64 * 1024
    assert "x … 39934592 more bytes in this line\nafter\n" in desk.log


async def test_both_streams_of_all_steps_stay_in_order(stage: Stage) -> None:
    loop = "for i in $(seq 2000); do echo {0} $i; echo {0} $i >&2; done"
    desk = Desk(stage.job(steps(loop.format("a"), loop.format("b"))))
    await stage.run(desk)
    written = [line for line in desk.log.splitlines() if line[:2] in ("a ", "b ")]
    assert written == [f"{step} {number}" for step in "ab" for number in range(1, 2001) for _ in range(2)]


async def test_a_log_that_is_too_long_keeps_its_ends_and_names_its_gap(stage: Stage) -> None:
    desk = Desk(stage.job(steps("seq 2000000; echo last")))
    await stage.run(desk)
    assert desk.report_taken.status is Status.PASSED
    assert len(desk.log.encode()) <= WHOLE_LOG
    head, _, tail = desk.log.partition("\n── ")[2].partition(" bytes are left out here\n")
    left_out = int(head.rpartition("── ")[2])
    assert tail.endswith("2000000\nlast\n── passed\n")
    whole = len(desk.log.encode()) - len(f"\n── {left_out} bytes are left out here\n".encode()) + left_out
    assert whole - len(desk.log[: desk.log.index("\n1\n") + 1].encode()) == WRITTEN


WRITTEN = sum(len(str(number)) + 1 for number in range(1, 2000001)) + len("last\n── passed\n".encode())


async def test_characters_that_are_none_do_not_hurt_those_around_them(stage: Stage) -> None:
    desk = Desk(stage.job(steps("printf 'caf\\303'; sleep 0.1; printf '\\251 \\377\\376 \\360\\237\\230'; echo ok")))
    await stage.run(desk)
    assert "café \ufffd\ufffd \ufffdok\n" in desk.log


class SlowDesk(Desk):
    """Takes its time to store a log."""

    async def append_log(self, run: RunId, message: AppendLog) -> None:
        await SystemClock().sleep(timedelta(seconds=0.3))
        await super().append_log(run, message)


async def test_a_slow_store_slows_no_command_and_no_heartbeat(stage: Stage) -> None:
    stage.numbers = replace(NUMBERS, log=LogLimits(chunk=1024, chunks=1), last_words=timedelta(milliseconds=100))
    desk = SlowDesk(stage.job(steps("seq 200000")))
    await stage.run(desk)
    assert desk.report_taken.status is Status.PASSED
    assert len(desk.took(AppendLog)) < 10
    assert desk.took(Heartbeat)


async def test_a_failing_step_is_reported_though_no_line_of_it_could_be_stored(stage: Stage) -> None:
    stage.numbers = replace(NUMBERS, last_words=timedelta(milliseconds=50))
    desk = Desk(stage.job(steps("seq 100000; exit 9")))
    desk.refusing["append_log"] = Unavailable()
    await stage.run(desk)
    assert (desk.report_taken.reason, desk.report_taken.exit_code) == (Reason.STEP_FAILED, 9)


@pytest.mark.soak
@pytest.mark.threat("A47")
async def test_yes_for_ten_seconds_starves_no_heartbeat(stage: Stage) -> None:
    desk = Desk(stage.job(steps("timeout 10 yes || test $? = 124")))
    running = asyncio.create_task(stage.run(desk))
    await desk.came("heartbeat", 20)
    await running
    assert desk.report_taken.status is Status.PASSED
    assert len(desk.took(Heartbeat)) >= 40
    assert len(desk.log.encode()) <= WHOLE_LOG
