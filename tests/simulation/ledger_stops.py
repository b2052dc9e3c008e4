"""A process that stops in the middle of an execution, is settled by an operator as if dead, and then goes on."""

import asyncio
from collections import Counter
from datetime import timedelta

from tests.simulation.callers import Play, drain
from tests.simulation.crash_points import Explored
from tests.simulation.flows import FLOWS, Flow
from tests.simulation.node import Issuer
from tests.simulation.operations_people import BOB, Operator, SettledWorld
from tests.simulation.stops import StopsAt

FLOWS_OF_CALLS = ("F13", "F13 again", "F13 lost", "F13 large", "F14 complete", "F14 release")

_LONG = timedelta(minutes=2)


async def explore_stops(issuer: Issuer, name: str) -> Explored:
    """Stop the flow at each of its calls, and have an operator at other instances settle what is open meanwhile."""
    flow = FLOWS[name]
    violations: list[str] = []
    reached: Counter[str] = Counter()
    for number in range(1, flow.points + 1):
        world, found = await _run(issuer, flow, number=number)
        violations += [f"stopped before call {number}: {each}" for each in found]
        reached.update(world.testimony.reached)
    return Explored(
        name=name,
        title=flow.title,
        points=flow.points,
        singles=flow.points,
        pairs=0,
        violations=tuple(violations),
        reached=reached,
    )


async def _run(issuer: Issuer, flow: Flow, *, number: int) -> tuple[SettledWorld, list[str]]:
    world = SettledWorld(issuer, nodes=2, gates=2)
    play = Play(world)
    try:
        await flow.before(play)
        stops = StopsAt(number, world.weather.calls)
        world.weather.now = stops
        acting = asyncio.ensure_future(flow.act(play))
        stopping = asyncio.ensure_future(stops.stopped.wait())
        await asyncio.wait({acting, stopping}, return_when=asyncio.FIRST_COMPLETED)
        stopping.cancel()
        world.clock.move(_LONG)
        for document in world.in_progress():
            await Operator(world=world, actor=BOB, door=1).settles(document)
        for process in (*world.nodes, *world.gates):
            process.life.running.set()
        await acting
        return world, [*await drain(world), *flow.wrong(play)]
    finally:
        world.close()
