"""Storms in the numbers of production: twenty may wait, and a runner is heard of every ten seconds."""

import os

import pytest

from tests.simulation.node import Issuer
from tests.simulation.profile import REAL
from tests.simulation.test_storm import storms

pytestmark = pytest.mark.anyio

SEEDS = 4
MORE = int(os.environ.get("ANVIL_SEEDS", "60")) // 5


@pytest.mark.timeout(900)
@pytest.mark.inv("Q2")
async def test_no_storm_in_real_numbers_breaks_a_promise(issuer: Issuer) -> None:
    reached, wrong = await storms(issuer, range(SEEDS), REAL)

    assert wrong == []
    assert reached["a run refused by a full queue"] > 0


@pytest.mark.soak
@pytest.mark.timeout(36_000)
async def test_no_further_storm_in_real_numbers_breaks_a_promise(issuer: Issuer) -> None:
    _, wrong = await storms(issuer, range(SEEDS, SEEDS + MORE), REAL)

    assert wrong == []
