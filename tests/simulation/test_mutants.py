"""The simulation can see: a bug that is planted is found, and told by the rule that it breaks."""

import pytest

from tests.simulation.crash_points import explore
from tests.simulation.mutants import MUTANTS, Mutant
from tests.simulation.node import Issuer
from tests.simulation.stops import explore_stops
from tests.simulation.storm import rage

pytestmark = pytest.mark.anyio

SEEDS = 60


@pytest.mark.parametrize("name", MUTANTS)
async def test_a_planted_bug_is_found(issuer: Issuer, name: str) -> None:
    mutant = MUTANTS[name]
    with mutant.plant():
        found = await _found(issuer, mutant)

    assert found & mutant.rules, f"told of {sorted(found)}"


async def _found(issuer: Issuer, mutant: Mutant) -> set[str]:
    """The rules that tell of it, in its flow, or in the first storm that sees it."""
    if mutant.flow is not None and mutant.stops:
        return _rules((await explore_stops(issuer, mutant.flow)).violations)
    if mutant.flow is not None:
        return _rules((await explore(issuer, mutant.flow, pairs=0)).violations)
    for seed in range(SEEDS):
        _, violations = await rage(issuer, seed)
        if rules := _rules(violations) & mutant.rules:
            return rules
    return set()


def _rules(violations: list[str] | tuple[str, ...]) -> set[str]:
    return {word.removesuffix(":") for each in violations for word in each.split() if word.endswith(":")}
