"""What goes on in a storm by itself: tasks, runners, sweeps, processes that go on, and time."""

from datetime import timedelta

from services.kernel.ports import Target
from services.kernel.runs import Status
from tests.simulation.calls import Calls
from tests.simulation.cast import Cast
from tests.simulation.rest import hand
from tests.simulation.runner import Phase, Runner

_WAITS = (1, 5, 20, 29, 46, 61, 301, 3600, 3 * 86400 + 2)
_WEIGHTS = (20, 20, 10, 10, 10, 5, 5, 2, 3)
_BEAT = timedelta(seconds=10)
_TRIES = (1, 2)


async def task(cast: Cast, calls: Calls) -> str | None:
    """Any task that is not kept back, in any order; it may come again, and is given up after some tries in vain."""
    queue, now = cast.world.queue, cast.world.clock.now()
    due = [each for each in queue.waiting if queue.held.get(each.name, now) <= now]
    if not due:
        return None
    task = cast.random.choice(due)
    free = [each for each in cast.runners if id(each) not in cast.busy]
    idle = [each for each in free if each.phase is Phase.IDLE]
    if task.target is Target.RUNNER and not free:
        return None
    runner = cast.random.choice(idle if idle and cast.random.random() < 0.5 else free or cast.runners)
    taken = await hand(cast.world, task, runner, calls)
    if not taken:
        queue.in_vain(task, at_most=cast.random.choice(_TRIES))
    elif task in queue.waiting and cast.random.random() < 0.8:
        queue.waiting.remove(task)
    return f"{task.name}: {'taken' if taken else 'in vain'}"


async def runner(cast: Cast, calls: Calls) -> str | None:
    free = [each for each in cast.runners if each.phase is not Phase.IDLE and id(each) not in cast.busy]
    if not free:
        return None
    runner = cast.random.choice(free)
    before = runner.phase
    cast.busy.add(id(runner))
    try:
        await _lives(cast, runner, calls)
    finally:
        cast.busy.discard(id(runner))
    return f"{runner.run_id}: {before} to {runner.phase}"


async def _lives(cast: Cast, runner: Runner, calls: Calls) -> None:
    if cast.random.random() < 0.08:
        runner.dies()
        return
    if runner.phase is Phase.RUNNING and cast.random.random() < 0.3:
        await runner.beats(calls)
        return
    if runner.phase is Phase.RUNNING and not runner.log:
        runner.pieces, runner.at_once = cast.random.randint(1, 4), cast.random.randint(1, 2)
        runner.ending = cast.random.choice((Status.PASSED, Status.FAILED))
        runner.torn_down = cast.random.random() < 0.9
    await runner.goes_on(calls)


async def sweep(cast: Cast, calls: Calls) -> str:
    await calls.sweep()
    return ""


async def wait(cast: Cast, calls: Calls) -> str:
    """A moment, or days. In production's numbers mostly until the next heartbeat, which most runners send."""
    if cast.profile.beats and cast.random.random() < 0.8:
        return await _beat(cast, calls)
    cast.world.clock.move(timedelta(seconds=cast.random.choices(_WAITS, _WEIGHTS)[0]))
    return str(cast.world.clock.now())


async def _beat(cast: Cast, calls: Calls) -> str:
    cast.world.clock.move(_BEAT)
    alive = [each for each in cast.runners if each.phase is Phase.RUNNING and id(each) not in cast.busy]
    for each in alive:
        if cast.random.random() < 0.9:
            cast.busy.add(id(each))
            try:
                await each.beats(calls)
            finally:
                cast.busy.discard(id(each))
    return f"{len(alive)} runners beat"


async def go_on(cast: Cast, calls: Calls) -> str:
    """Stopped processes run again, each in the middle of what it was doing."""
    for process in (*cast.world.nodes, *cast.world.gates):
        if not process.life.running.is_set():
            cast.world.testimony.reached["a stopped process that went on"] += 1
        process.life.running.set()
    return ""
