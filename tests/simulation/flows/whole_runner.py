"""A run in the hands of the production runner while its coordinator dies; what befalls the runner: `runner_service`."""

from datetime import timedelta

from tests.simulation.callers import Play
from tests.simulation.flows.flow import flow
from tests.simulation.runner_service.scene import LoggedWorld, place, prepare, repository
from tests.simulation.runner_service.stage import stage

_ALL_IS_SAID = timedelta(minutes=1)


class StagedWorld(LoggedWorld):
    """`wrong` is what its runs came to that is not what they did."""

    wrong: list[str]


def _staged(play: Play) -> StagedWorld:
    if not isinstance(play.world, StagedWorld):
        raise TypeError(play.world)
    return play.world


async def _two_that_wait(play: Play) -> None:
    world = _staged(play)
    await prepare(world, repository(world.issuer.folder))


@flow(
    "F18",
    title="a run by the production runner",
    points=53,
    before=_two_that_wait,
    wrong=lambda play: _staged(play).wrong,
    world=StagedWorld,
)
async def ran(play: Play) -> None:
    """To the end of the first run; the next one is another runner's."""
    world = _staged(play)
    async with stage(world, repository(world.issuer.folder), place(world.issuer)) as made:
        while not world.state.runs[world.pushed].status.terminal:
            await made.round()
        await world.time.let_pass(_ALL_IS_SAID)
        world.wrong = made.wrong()
