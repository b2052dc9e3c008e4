"""A run in the hands of a runner: handed over, claimed, started, ended, and the next one after it."""

from datetime import timedelta

from services.kernel.runs import Status
from tests.simulation.callers import Play
from tests.simulation.flows.flow import flow
from tests.simulation.flows.scenes import (
    a_manual_run,
    an_executable_run_without_a_task,
    one_that_reported,
    one_that_runs,
    two_that_wait,
)
from tests.simulation.runner import Phase


@flow("F4", title="an executable run is handed over", before=an_executable_run_without_a_task, points=5)
async def handed_over(play: Play) -> None:
    await play.sweep(later=timedelta(seconds=6))


@flow("F5", title="a claim", before=two_that_wait, points=7)
async def claimed(play: Play) -> None:
    play.runner.take(play.next_run())
    await play.until(Phase.STARTING)


@flow("F6", title="a heartbeat", before=one_that_runs, points=2)
async def renewed(play: Play) -> None:
    await play.beat()


@flow("F7", title="a commit is filled in", before=a_manual_run, points=12)
async def started(play: Play) -> None:
    await play.begin(play.next_run())


@flow("F8", title="log, report and end", before=one_that_runs, points=15)
async def failing(play: Play) -> None:
    play.runner.ending = Status.FAILED
    await play.until(Phase.IDLE)


@flow("F9", title="the next is promoted", before=one_that_reported, points=21)
async def promoted(play: Play) -> None:
    await play.until(Phase.IDLE)
    await play.begin(play.next_run())
