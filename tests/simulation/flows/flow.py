"""What a flow is: what is there before, what is then done, and how many calls of ports that takes."""

import re
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from tests.simulation.callers import Play
from tests.simulation.node import Issuer
from tests.simulation.world import World

Act = Callable[[Play], Awaitable[object]]

_declared: dict[str, "Flow"] = {}


async def nothing(play: Play) -> None:
    """Nothing is there before."""


def no_more(play: Play) -> list[str]:
    """What holds for every flow is all that is asked of this one."""
    return []


@dataclass(frozen=True, slots=True, kw_only=True)
class Flow:
    """`points`: how many calls of ports the undisturbed flow makes; another number is a change to be looked at.

    `wrong` tells what is wrong in the end beyond what the invariants say; `world` is where the flow is played.
    """

    title: str
    before: Act
    act: Act
    points: int
    wrong: Callable[[Play], list[str]] = no_more
    world: Callable[[Issuer], World] = World


def flow(
    name: str,
    *,
    title: str,
    points: int,
    before: Act = nothing,
    wrong: Callable[[Play], list[str]] = no_more,
    world: Callable[[Issuer], World] = World,
) -> Callable[[Act], Act]:
    """Declare what follows as the flow of this name (`F8`, or `F8 and a word` if there are more of it)."""

    def declare(act: Act) -> Act:
        if name in _declared:
            raise ValueError(f"there is a flow {name} already")
        _declared[name] = Flow(title=title, before=before, act=act, points=points, wrong=wrong, world=world)
        return act

    return declare


def declared() -> dict[str, Flow]:
    return {name: _declared[name] for name in sorted(_declared, key=_order)}


def _order(name: str) -> tuple[int, str]:
    number = re.match(r"F(\d+)", name)
    return (int(number[1]) if number else 0, name)
