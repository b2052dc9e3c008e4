"""What a task comes to where it is delivered, and what brings any world to rest."""

from datetime import timedelta

from services.kernel.errors import AnvilError
from services.kernel.ports import Target, Task
from tests.simulation.calls import Calls
from tests.simulation.runner import Phase, Runner
from tests.simulation.world import World

_ROUNDS = 100
_ROUND = timedelta(seconds=61)


async def hand(world: World, task: Task, runner: Runner, calls: Calls) -> bool:
    """One delivery of a task, at a coordinator or a runner: whether it was taken."""
    run_id = str(task.body["run"])
    if task.target is Target.RUNNER:
        if runner.phase is not Phase.IDLE:
            return False
        runner.take(run_id)
        return True
    try:
        await calls.look(run_id)
    except AnvilError:
        return False
    return True


async def drain(world: World) -> list[str]:
    """Nothing fails any more and time goes on; what is wrong in the end, or was on the way."""
    await world.calm()
    found: list[str] = []
    for _ in range(_ROUNDS):
        await _round(world)
        found = await world.check_end()
        if not found or world.violations:
            break
    return found


async def _round(world: World) -> None:
    due = [task for task in world.queue.waiting if task.not_before is None or task.not_before <= world.clock.now()]
    for task in due:
        world.queue.waiting.remove(task)
        runner = Runner(world=world)
        await hand(world, task, runner, world.calls())
        while runner.phase is not Phase.IDLE:
            await runner.goes_on(world.calls())
        await world.settle()
    await world.calls().sweep()
    await world.settle()
    world.clock.move(_ROUND)
