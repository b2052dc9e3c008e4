"""A process that was stopped for longer than a lease changes nothing that was decided meanwhile."""

import pytest

from tests.simulation.crash_points import table
from tests.simulation.node import Issuer
from tests.simulation.stops import FLOWS_OF_RUNNERS, explore_stops

pytestmark = pytest.mark.anyio


@pytest.mark.parametrize("name", FLOWS_OF_RUNNERS)
async def test_a_process_that_goes_on_after_a_takeover_breaks_no_promise(issuer: Issuer, name: str) -> None:
    explored = await explore_stops(issuer, name)

    assert explored.violations == (), table([explored])
