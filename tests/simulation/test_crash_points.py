"""A process may be killed before and after every call that it makes of the world; no promise is broken by it."""

import pytest

from tests.simulation.crash_points import explore, table
from tests.simulation.flows import FLOWS
from tests.simulation.node import Issuer

pytestmark = pytest.mark.anyio

PAIRS = 6


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
async def test_two_kills_at_any_two_calls_break_no_promise(issuer: Issuer, name: str) -> None:
    explored = await explore(issuer, name, pairs=None)

    assert explored.violations == (), table([explored])
