"""Whatever happens, in whatever order: no promise is broken, and everything comes to rest."""

import os
from collections import Counter

import pytest

from tests.simulation.faults import Fault
from tests.simulation.node import Issuer
from tests.simulation.profile import SMALL, Profile
from tests.simulation.sometimes import missing
from tests.simulation.storm import rage

pytestmark = pytest.mark.anyio

SEEDS = 60
MORE = int(os.environ.get("ANVIL_SEEDS", "60"))
"""Storms of the soak, which takes the number for a night; each takes less than a second."""


async def storms(issuer: Issuer, seeds: range, profile: Profile = SMALL) -> tuple[Counter[str], list[str]]:
    """What was reached, and what was wrong, with the seed that shows it again."""
    reached: Counter[str] = Counter()
    wrong: list[str] = []
    for seed in seeds:
        world, violations = await rage(issuer, seed, profile=profile)
        reached.update(world.testimony.reached)
        wrong += [f"--seed {seed} --profile {profile.name}: {each}" for each in violations]
    return reached, wrong


@pytest.mark.timeout(900)
@pytest.mark.inv("Q4")
@pytest.mark.inv("S3")
@pytest.mark.inv("Y9")
@pytest.mark.inv("K4")
@pytest.mark.inv("D1")
async def test_no_storm_breaks_a_promise(issuer: Issuer) -> None:
    reached, wrong = await storms(issuer, range(SEEDS))

    assert wrong == []
    assert missing(reached) == []
    assert [fault for fault in Fault if not reached[fault]] == []


@pytest.mark.soak
@pytest.mark.timeout(36_000)
async def test_no_further_storm_breaks_a_promise(issuer: Issuer) -> None:
    _, wrong = await storms(issuer, range(SEEDS, SEEDS + MORE))

    assert wrong == []


@pytest.mark.parametrize("seed", [0, 7])
async def test_a_seed_shows_the_same_storm_again(issuer: Issuer, seed: int) -> None:
    one, _ = await rage(issuer, seed)
    other, _ = await rage(issuer, seed)

    assert one.state.documents == other.state.documents
    assert one.testimony.reached == other.testimony.reached
    assert one.trace == other.trace
