"""Whatever happens, in whatever order: no promise is broken, and everything comes to rest."""

import os
from collections import Counter

import pytest

from tests.simulation.node import Issuer
from tests.simulation.storm import Fault, rage

pytestmark = pytest.mark.anyio

SEEDS = 40
MORE = int(os.environ.get("ANVIL_SEEDS", "150"))
"""Storms of the soak, which takes the number for a night; each takes less than a second."""

SOMETIMES = (
    "a delivery that came again",
    "a delivery that came again while it was decided",
    "a full queue, then accepted",
    "a run refused by a full queue",
    "an expired delivery, decided anew",
    "a rotation during a delivery",
    "a cancel during starting",
    "an end before the index knew the run",
    "a takeover",
    "a takeover after a report",
    "a late call of an attempt that lost its run",
    "an instance started anew",
    "a stopped process that went on",
    *Fault,
)
"""States that must have been reached, or nothing has been proven."""


async def storms(issuer: Issuer, seeds: range) -> tuple[Counter[str], list[str]]:
    """What was reached, and what was wrong, with the seed that shows it again."""
    reached: Counter[str] = Counter()
    wrong: list[str] = []
    for seed in seeds:
        world, violations = await rage(issuer, seed)
        reached.update(world.testimony.reached)
        wrong += [f"seed {seed}: {each}" for each in violations]
    return reached, wrong


@pytest.mark.timeout(300)
@pytest.mark.inv("Q4")
@pytest.mark.inv("S3")
@pytest.mark.inv("Y9")
async def test_no_storm_breaks_a_promise(issuer: Issuer) -> None:
    reached, wrong = await storms(issuer, range(SEEDS))

    assert wrong == []
    assert [state for state in SOMETIMES if not reached[state]] == []


@pytest.mark.soak
@pytest.mark.timeout(7200)
async def test_no_further_storm_breaks_a_promise(issuer: Issuer) -> None:
    _, wrong = await storms(issuer, range(SEEDS, SEEDS + MORE))

    assert wrong == []


@pytest.mark.parametrize("seed", [0, 7])
async def test_a_seed_shows_the_same_storm_again(issuer: Issuer, seed: int) -> None:
    one, _ = await rage(issuer, seed)
    other, _ = await rage(issuer, seed)

    assert one.state.documents == other.state.documents
    assert one.testimony.reached == other.testimony.reached
