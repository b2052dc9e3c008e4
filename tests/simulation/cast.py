"""Who takes part in a storm, and what they know."""

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from random import Random

from services.kernel.errors import AnvilError
from services.kernel.wire.deliveries import Provider
from tests.simulation.calls import Calls
from tests.simulation.custody import Place
from tests.simulation.gate import Gate
from tests.simulation.people import Person
from tests.simulation.profile import Profile
from tests.simulation.runner import Runner
from tests.simulation.world import World

SLUGS = ("site", "other")
PLACES: Sequence[Place] = [(slug, provider) for slug in SLUGS for provider in (*[Provider.GITHUB] * 3, *Provider)]
"""All webhooks that there may be; most that happens is about few of them."""


@dataclass(slots=True, kw_only=True)
class Cast:
    """Who takes part, and what they know. `seen` are versions of webhooks as people saw them last."""

    world: World
    random: Random
    profile: Profile
    runners: list[Runner] = field(default_factory=list[Runner])
    seen: dict[Place, str] = field(default_factory=dict[Place, str])
    asked: set[tuple[Place, str]] = field(default_factory=set[tuple[Place, str]])
    under_way: Counter[tuple[Place, str]] = field(default_factory=Counter[tuple[Place, str]])
    busy: set[int] = field(default_factory=set[int])

    def gate(self) -> Gate:
        return self.world.gate(self.random.choice(self.world.open()))

    def person(self) -> Person:
        return Person(self.world, self.gate())


Deed = Callable[[Cast, Calls], Awaitable[str | None]]
"""One thing that somebody does, and what came of it; refusals are raised. None: there was nothing to do."""


async def together(*deeds: Awaitable[object]) -> str:
    """What came of each; a refusal of one is no refusal of the others."""
    came = await asyncio.gather(*deeds, return_exceptions=True)
    for each in came:
        if isinstance(each, BaseException) and not isinstance(each, AnvilError):
            raise each
    return "; ".join(type(each).__name__ if isinstance(each, AnvilError) else str(each) for each in came)
