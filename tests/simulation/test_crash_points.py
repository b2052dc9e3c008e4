"""A process may be killed before and after every call that it makes of the world; no promise is broken by it."""

import os

import pytest

from tests.simulation.crash_points import explore, table
from tests.simulation.flows import FLOWS
from tests.simulation.node import Issuer

pytestmark = pytest.mark.anyio

PAIRS = 2
MORE = int(os.environ.get("ANVIL_PAIRS", "10"))
"""Pairs of kills a flow in the soak, which takes the number for a night."""


@pytest.mark.inv("Q10")
@pytest.mark.inv("D8")
@pytest.mark.parametrize("name", FLOWS)
async def test_a_kill_at_any_call_breaks_no_promise(issuer: Issuer, name: str) -> None:
    explored = await explore(issuer, name, pairs=PAIRS)

    assert explored.violations == (), table([explored])
    assert explored.points == FLOWS[name].points, "the flow makes other calls than it did: look whether that is meant"


@pytest.mark.soak
@pytest.mark.timeout(1800)
@pytest.mark.parametrize("name", FLOWS)
async def test_two_kills_break_no_promise(issuer: Issuer, name: str) -> None:
    explored = await explore(issuer, name, pairs=MORE)

    assert explored.violations == (), table([explored])
