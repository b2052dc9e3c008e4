"""Whoever is killed whenever: the run ends as docs/runner.md says, nothing of it is left, and the next one passes."""

import random
import signal
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from datetime import timedelta

import pytest

from services.kernel.runs import Reason, Status
from services.kernel.wire.runs import RunView
from tests.e2e.runner.between import Where
from tests.e2e.runner.life import Life, boottime, send, silent
from tests.unit.runner.processes import is_alive, until

pytestmark = [pytest.mark.anyio, pytest.mark.timeout(180)]

WORKER, MASTER, GUARD = ("worker",), ("master",), ("guard",)
VICTIMS = (WORKER, MASTER, GUARD, ("guard", "worker"), ("worker", "master"))
LOST = (Status.FAILED, Reason.RUNNER_LOST)
UNGUARDED = (Status.FAILED, Reason.RUNNER_TERMINATED)
PASSED = (Status.PASSED, None)
SEED = 20261130


def kill(life: Life, victims: tuple[str, ...]) -> set[int]:
    """Kill these at one moment, and say who they were."""
    pids = [int(getattr(life, victim)) for victim in victims]
    send(signal.SIGSTOP, pids)
    send(signal.SIGKILL, pids)
    return set(pids)


async def ended(life: Life, run: str, victims: set[int]) -> RunView:
    """The run's end, once everything that was killed or that it had started is dead."""
    view = await life.workplace.finished(run)
    await until(lambda: not any(map(is_alive, victims)) and not life.left())
    return view


async def moment(at: timedelta) -> None:
    await until(lambda: boottime() >= at)


def soaking(*quick: tuple[str, ...]) -> list[object]:
    """All victims as parameters; those that are not quick ones only soak."""
    return [
        pytest.param(victims, id="+".join(victims), marks=() if victims in quick else pytest.mark.soak)
        for victims in VICTIMS
    ]


@asynccontextmanager
async def checking_out(life: Life) -> AsyncGenerator[str]:
    """A run whose repository's server never answers."""
    with silent() as server:
        project = f"{life.workplace.project}-silent"
        url = f"http://127.0.0.1:{server.getsockname()[1]}/silent.git"
        await life.workplace.api.create_project(project, repository_url=url)
        run = await life.workplace.api.start_run(project)
        await until(lambda: any(b"ls-remote" in life.command_line(pid) for pid in life.left()))
        yield run


@pytest.mark.parametrize("victims", soaking())
async def test_a_kill_during_the_checkout(life: Life, victims: tuple[str, ...]) -> None:
    async with checking_out(life) as run:
        view = await ended(life, run, kill(life, victims))
    assert (view.run.status, view.reason) == (UNGUARDED if victims == GUARD else LOST)
    await life.next_passes()


@pytest.mark.inv("R1")
@pytest.mark.parametrize("victims", soaking(("guard", "worker"), GUARD))
async def test_a_kill_during_a_step(life: Life, victims: tuple[str, ...]) -> None:
    run = await life.begun()
    assert len(life.left()) >= 6
    view = await ended(life, run, kill(life, victims))
    assert (view.run.status, view.reason) == (UNGUARDED if victims == GUARD else LOST)
    await life.next_passes()


@pytest.mark.inv("Q9")
@pytest.mark.parametrize("victims", soaking(WORKER))
async def test_a_kill_between_the_report_and_the_teardown_leaves_the_result(
    life: Life, victims: tuple[str, ...]
) -> None:
    run = await life.begun()
    with life.between.holding("report", run, where=Where.ANSWERED) as hold:
        life.workplace.gate.touch()
        await hold.came.wait()
        victim = kill(life, victims)
    view = await ended(life, run, victim)
    assert (view.run.status, view.reason, view.run.exit_code) == (*PASSED, 0)
    await life.next_passes()


@pytest.mark.parametrize("where", list(Where))
@pytest.mark.parametrize("victims", [WORKER, pytest.param(MASTER, marks=pytest.mark.soak)])
@pytest.mark.soak
async def test_a_kill_around_the_complete_leaves_the_result(life: Life, victims: tuple[str, ...], where: Where) -> None:
    run = await life.begun()
    with life.between.holding("complete", run, where=where) as hold:
        life.workplace.gate.touch()
        await hold.came.wait()
        victim = kill(life, victims)
    view = await ended(life, run, victim)
    assert (view.run.status, view.reason, view.run.exit_code) == (*PASSED, 0)
    await life.next_passes()


@pytest.mark.inv("Q14")
@pytest.mark.parametrize(
    ("call", "where", "end", "times"),
    [
        pytest.param("claim", Where.ASKED, PASSED, 1, marks=pytest.mark.soak),
        pytest.param("claim", Where.ANSWERED, LOST, 0, marks=pytest.mark.soak),
        pytest.param("start", Where.ASKED, LOST, 0, marks=pytest.mark.soak),
        pytest.param("start", Where.ANSWERED, LOST, 0, marks=pytest.mark.soak),
        pytest.param("report", Where.ASKED, LOST, 1, marks=pytest.mark.soak),
    ],
)
async def test_commands_start_at_most_once_whichever_call_the_runner_dies_in(
    life: Life, call: str, where: Where, end: tuple[Status, Reason | None], times: int
) -> None:
    mark = life.record
    sha = life.workplace.commit(f"echo once >> {mark}")
    push = life.workplace.push(sha)
    held_up = await life.begun()
    run = await life.workplace.run_of(push)
    with life.between.holding(call, run, where=where) as hold:
        mark.unlink()
        await life.workplace.api.cancel(held_up)
        await hold.came.wait()
        victim = kill(life, WORKER)
    view = await ended(life, run, victim)
    assert (view.run.status, view.reason) == end
    noted = [line for line in mark.read_text().splitlines() if line == "once"] if mark.exists() else []
    assert len(noted) == times
    await life.next_passes()


@pytest.mark.soak
@pytest.mark.timeout(900)
@pytest.mark.parametrize("victims", VICTIMS, ids="+".join)
async def test_a_kill_at_any_moment_leaves_nothing_and_stops_nothing(life: Life, victims: tuple[str, ...]) -> None:
    moments = random.Random(SEED)
    for turn in range(20):
        run = await life.workplace.run_of(life.workplace.push(life.workplace.commit("sleep 1 & sleep 0.5")))
        await moment(boottime() + timedelta(seconds=moments.uniform(0, 2.5)))
        try:
            victim = kill(life, victims)
        except (ValueError, ProcessLookupError):
            victim = set[int]()  # There was no such process at that moment.
        view = await ended(life, run, victim)
        end = (view.run.status, view.reason)
        assert end in {LOST, UNGUARDED, PASSED}, f"seed {SEED}, turn {turn}: {view}"
    await life.next_passes()
