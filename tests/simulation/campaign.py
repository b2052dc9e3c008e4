"""All flows and many storms at once, on a few processes, and what was found."""

import asyncio
import tempfile
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from dataclasses import dataclass, field
from multiprocessing import get_context
from pathlib import Path
from typing import Protocol, TypeVar

from tests.simulation import ledger_storm
from tests.simulation.crash_points import Explored, explore, head, row
from tests.simulation.faults import Fault
from tests.simulation.flows import FLOWS
from tests.simulation.node import Issuer
from tests.simulation.profile import LEDGER, PROFILES, REAL, SMALL, Profile
from tests.simulation.sometimes import STATES, missing
from tests.simulation.storm import rage
from tests.simulation.world import World, quiet

Result = TypeVar("Result")

_WHY = {**STATES, **ledger_storm.STATES}
_AT_ONCE = 10
"""Storms that one process takes at a time."""

_LEAST = 30
"""Storms around the ledger, fewer of which may not reach everything that is interesting."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Raged:
    storms: int
    steps: int
    reached: Counter[str]
    violations: list[str]


@dataclass(slots=True)
class Found:
    storms: Counter[str] = field(default_factory=Counter[str])
    steps: int = 0
    kills: int = 0
    pairs: int = 0
    partial: bool = False
    reached: Counter[str] = field(default_factory=Counter[str])
    violations: list[str] = field(default_factory=list[str])

    @property
    def missing(self) -> list[str]:
        faults = (each for each in Fault if not self.reached[each])
        return [] if self.partial else [*missing(self.reached), *ledger_storm.missing(self.reached), *faults]

    def explored(self, each: Explored) -> None:
        self.kills, self.pairs = self.kills + each.singles, self.pairs + each.pairs
        self.reached.update(each.reached)
        self.violations += [f"{each.name}: {found}" for found in each.violations]

    def raged(self, profile: str, each: Raged) -> None:
        self.storms[profile] += each.storms
        self.steps += each.steps
        self.reached.update(each.reached)
        self.violations += each.violations

    def told(self) -> Iterator[str]:
        storms = ", ".join(f"{number} in {profile} numbers" for profile, number in self.storms.items())
        yield f"{self.kills} kills at one place, {self.pairs} at two; storms: {storms or 'none'}; {self.steps} steps"
        yield "reached:"
        yield from (f"{times:>7}  {state}" for state, times in self.reached.most_common())
        yield from (f"      0  {state}: NEVER REACHED ({_WHY.get(state, 'a fault')})" for state in self.missing)
        yield ""
        yield f"{len(self.violations)} violations"
        yield from self.violations


@dataclass(frozen=True, slots=True, kw_only=True)
class Campaign:
    """`seeds` storms, a tenth as many in the numbers of production, and a third as many around the ledger; `only` one
    flow and no storms.
    """

    seeds: int
    pairs: int | None
    only: str | None = None

    def run(self, *, workers: int, say: Callable[[str], None]) -> Found:
        found = Found(partial=self.only is not None)
        # Not forked: another thread might hold a lock of SQLite's.
        with ProcessPoolExecutor(workers, mp_context=get_context("spawn")) as pool:
            storms = list(self._storms(pool))
            explored = [pool.submit(_explored, name, self.pairs) for name in self._flows()]
            say(head())
            for flow in explored:
                found.explored(flow.result())
                say(row(flow.result()))
            for profile, storm in storms:
                found.raged(profile, storm.result())
        return found

    def _flows(self) -> list[str]:
        return list(FLOWS) if self.only is None else [self.only]

    def _storms(self, pool: ProcessPoolExecutor) -> Iterator[tuple[str, "Future[Raged]"]]:
        if self.only is not None:
            return
        for profile, seeds in (
            (REAL, max(self.seeds // 10, 1)),
            (SMALL, self.seeds),
            (LEDGER, max(self.seeds // 3, _LEAST)),
        ):
            for first in range(0, seeds, _AT_ONCE):
                yield profile.name, pool.submit(_raged, profile.name, first, min(first + _AT_ONCE, seeds))


class Rage(Protocol):
    """One storm from its beginning to its rest."""

    def __call__(self, issuer: Issuer, seed: int, *, profile: Profile) -> Awaitable[tuple[World, list[str]]]: ...


def raging(profile: str) -> Rage:
    """Of which kind the storms of this profile are."""
    return ledger_storm.rage if profile == LEDGER.name else rage


def _explored(name: str, pairs: int | None) -> Explored:
    return _alone(lambda issuer: explore(issuer, name, pairs=pairs))


def _raged(profile: str, first: int, last: int) -> Raged:
    return _alone(lambda issuer: _storms(issuer, profile, first, last))


async def _storms(issuer: Issuer, name: str, first: int, last: int) -> Raged:
    reached: Counter[str] = Counter()
    violations: list[str] = []
    profile, rages = PROFILES[name], raging(name)
    for seed in range(first, last):
        world, wrong = await rages(issuer, seed, profile=profile)
        reached.update(world.testimony.reached)
        violations += [f"--seed {seed} --profile {name}: {each}" for each in wrong]
    storms = last - first
    return Raged(storms=storms, steps=storms * profile.steps, reached=reached, violations=violations)


def _alone(work: Callable[[Issuer], Awaitable[Result]]) -> Result:
    """In a process of its own, with an issuer of its own."""

    async def done() -> Result:
        with tempfile.TemporaryDirectory() as folder, quiet():
            return await work(Issuer(Path(folder)))

    return asyncio.run(done())
