"""Three things that look alike and have three rules: deliveries, runs, and calls to other systems (C22)."""

from datetime import timedelta

import pytest

from services.kernel.runs import Reason
from tests.unit.coordinator.operations.billing import answers
from tests.unit.ingress.operations.asking import execute, told, unknown
from tests.unit.whole import Whole

pytestmark = pytest.mark.anyio

A_YEAR = timedelta(days=366)


@pytest.mark.req("R137")
@pytest.mark.req("C15")
async def test_neither_a_takeover_nor_a_sweep_nor_a_year_settles_an_unknown_outcome(anvil: Whole) -> None:
    path = await unknown(anvil)
    row = (await anvil.call("GET", path)).json()
    coordinator = anvil.book.anvil
    await coordinator.create_project()
    await coordinator.ask_for_run(1)
    await coordinator.begin(1)
    await coordinator.sweep(later=timedelta(seconds=46))
    assert (await coordinator.show(1)).reason is Reason.RUNNER_LOST

    await coordinator.sweep(later=A_YEAR)
    assert (await anvil.call("GET", path)).json() == row
    assert told(await execute(anvil)) == (409, "idempotency_in_progress", False)
    assert len(anvil.billing.made()) == 1


@pytest.mark.req("C22")
async def test_what_is_remembered_of_a_delivery_of_a_call_and_of_an_unknown_outcome_ends_by_its_own_rule(
    anvil: Whole,
) -> None:
    path = await unknown(anvil)
    coordinator = anvil.book.anvil
    await coordinator.create_project()
    await coordinator.create_webhook()
    anvil.billing.answers = [answers(201), answers(201)]
    first = await coordinator.push(1, "delivery")
    await execute(anvil, key="other")

    anvil.place.clock.move(timedelta(hours=73))
    again = await coordinator.push(2, "delivery")
    replay = await execute(anvil, key="other")
    anvil.place.clock.move(timedelta(days=5))
    expired = await execute(anvil, key="other")

    assert (first.duplicate, again.duplicate) == (False, False)
    assert (replay.json()["replayed"], expired.json()["replayed"]) == (True, False)
    assert (await anvil.call("GET", path)).json()["status"] == "in_progress"
