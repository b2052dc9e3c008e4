"""Runs that end otherwise: canceled at each stage, taken over from a runner that is lost, or holding their lock."""

from tests.simulation.callers import Play
from tests.simulation.flows.flow import flow
from tests.simulation.flows.scenes import STALE, one_that_reported, one_that_runs, two_that_wait
from tests.simulation.runner import Phase


@flow("F10 queued", title="cancel of a queued run", before=two_that_wait, points=18)
async def canceled_while_it_waits(play: Play) -> None:
    await play.cancel(play.next_run())


@flow("F10 running", title="cancel of a running run", before=one_that_runs, points=31)
async def canceled_while_it_runs(play: Play) -> None:
    await play.cancel(play.runner.run_id)
    await play.beat()
    await play.until(Phase.IDLE)


@flow("F10 starting", title="cancel of a starting run", before=two_that_wait, points=37)
async def canceled_while_it_starts(play: Play) -> None:
    play.runner.take(play.next_run())
    await play.until(Phase.STARTING)
    await play.cancel(play.runner.run_id)
    await play.until(Phase.IDLE)


@flow("F11", title="a takeover, and a late runner", before=one_that_runs, points=12)
@flow("F11 reported", title="a takeover after a report", before=one_that_reported, points=14)
async def lost(play: Play) -> None:
    """Taken over; then the runner that was thought dead goes on."""
    await play.sweep(later=STALE)
    await play.until(Phase.IDLE)


@flow("F11 held", title="a lock that is held", before=one_that_reported, points=14)
async def held(play: Play) -> None:
    """Its sandbox could not be torn down: the lock is held until it is stale."""
    play.runner.torn_down = False
    await play.until(Phase.IDLE)
    await play.sweep(later=STALE)
