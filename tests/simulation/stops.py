"""A process that stops at a call (SIGSTOP), is taken for dead, and goes on in the middle of what it was doing."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import timedelta

from tests.simulation.callers import Play, drain
from tests.simulation.crash_points import Explored
from tests.simulation.flows import FLOWS, Flow
from tests.simulation.node import Issuer
from tests.simulation.ports import Life, Point, Side
from tests.simulation.world import World

FLOWS_OF_RUNNERS: Sequence[str] = ("F5", "F6", "F7", "F8", "F10 running")

_LOST = timedelta(seconds=46)


@dataclass(slots=True)
class StopsAt:
    """Stops the life that comes to this call, once. Implements `Disturbance`; calls count from `start`."""

    number: int
    start: int
    stopped: asyncio.Event = field(default_factory=asyncio.Event)

    async def at(self, point: Point, life: Life) -> None:
        if point.number - self.start == self.number and point.side is Side.BEFORE and not self.stopped.is_set():
            life.running.clear()
            self.stopped.set()


async def explore_stops(issuer: Issuer, name: str) -> Explored:
    """Stop the flow at each of its calls, and have the other instance sweep meanwhile, when the attempt is stale."""
    flow = FLOWS[name]
    violations: list[str] = []
    for number in range(1, flow.points + 1):
        violations += [f"stopped before call {number}: {each}" for each in await _run(issuer, flow, number=number)]
    return Explored(
        name=name, title=flow.title, points=flow.points, singles=flow.points, pairs=0, violations=tuple(violations)
    )


async def _run(issuer: Issuer, flow: Flow, *, number: int) -> list[str]:
    world = World(issuer, nodes=2)
    play = Play(world)
    try:
        await flow.before(play)
        stops = StopsAt(number, world.weather.calls)
        world.weather.now = stops
        acting = asyncio.ensure_future(flow.act(play))
        stopping = asyncio.ensure_future(stops.stopped.wait())
        await asyncio.wait({acting, stopping}, return_when=asyncio.FIRST_COMPLETED)
        stopping.cancel()
        world.clock.move(_LOST)
        await world.calls(1).sweep()
        await world.nodes[1].settle()
        for process in (*world.nodes, *world.gates):
            process.life.running.set()
        await acting
        return await drain(world)
    finally:
        world.close()
