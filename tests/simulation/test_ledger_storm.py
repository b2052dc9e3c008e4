"""Whatever happens around a call to another system: it has one effect, or a person is told that nobody knows."""

import os
from collections import Counter
from collections.abc import Callable
from contextlib import AbstractContextManager

import pytest

from services.coordinator.ledger import ledger
from services.coordinator.ledger.ledger import Replayed, Reservation
from services.coordinator.ledger.rows import InProgress, Row
from services.coordinator.records.table import Held
from tests.simulation.crash_points import table
from tests.simulation.ledger_stops import FLOWS_OF_CALLS, explore_stops
from tests.simulation.ledger_storm import missing, rage
from tests.simulation.node import Issuer
from tests.simulation.world import replaced

pytestmark = pytest.mark.anyio

SEEDS = 30
MORE = int(os.environ.get("ANVIL_SEEDS", "60"))
"""Storms of the soak, which takes the number for a night."""


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
@pytest.mark.inv("I1")
@pytest.mark.inv("I2")
@pytest.mark.inv("I3")
@pytest.mark.inv("I4")
@pytest.mark.inv("I6")
@pytest.mark.inv("I7")
@pytest.mark.inv("I8")
@pytest.mark.inv("I10")
@pytest.mark.inv("I12")
@pytest.mark.inv("I13")
@pytest.mark.inv("I15")
async def test_no_storm_around_the_ledger_breaks_a_promise(issuer: Issuer) -> None:
    reached, wrong = await storms(issuer, range(SEEDS))

    assert wrong == []
    assert missing(reached) == []


@pytest.mark.soak
@pytest.mark.timeout(36_000)
async def test_no_further_storm_around_the_ledger_breaks_a_promise(issuer: Issuer) -> None:
    _, wrong = await storms(issuer, range(SEEDS, SEEDS + MORE))

    assert wrong == []


@pytest.mark.parametrize("name", FLOWS_OF_CALLS)
async def test_a_process_that_goes_on_after_a_verdict_breaks_no_promise(issuer: Issuer, name: str) -> None:
    explored = await explore_stops(issuer, name)

    assert explored.violations == (), table([explored])


async def test_a_seed_shows_the_same_storm_around_the_ledger_again(issuer: Issuer) -> None:
    one, _ = await rage(issuer, 3)
    other, _ = await rage(issuer, 3)

    assert one.rows == other.rows
    assert one.trace == other.trace


def replays_what_it_replayed_before() -> AbstractContextManager[None]:
    """An instance keeps what it replayed, also when that has expired and there is another effect."""
    original: Callable[[str, InProgress, Held[Row] | None], Reservation] = vars(ledger)["_reservation"]
    kept: dict[tuple[str, str], Replayed] = {}

    def reservation(document: str, mine: InProgress, held: Held[Row] | None) -> Reservation:
        found = original(document, mine, held)
        return kept.setdefault((document, mine.fingerprint), found) if isinstance(found, Replayed) else found

    return replaced(ledger, "_reservation", reservation)


async def test_a_replay_of_an_earlier_effect_is_an_answer_that_no_order_explains(issuer: Issuer) -> None:
    with replays_what_it_replayed_before():
        found = await _unexplained(issuer)

    assert "no order of these explains the answers" in found


async def _unexplained(issuer: Issuer) -> str:
    for seed in range(SEEDS):
        _, wrong = await rage(issuer, seed)
        if unexplained := [each for each in wrong if each.startswith("I1: ") and "no order" in each]:
            return unexplained[0]
    return ""
