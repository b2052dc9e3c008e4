"""The production runner may be killed, stopped, cut off or told to end at every call that it makes of the world."""

import os

import pytest

from tests.simulation.node import Issuer
from tests.simulation.runner_service.explore import FENCED, KINDS, explore, explore_pairs, moments, play, table
from tests.simulation.runner_service.mutants import MUTANTS
from tests.simulation.runner_service.stage import own_stage

pytestmark = pytest.mark.anyio

CALLS = 26
"""How many calls an undisturbed run makes of the coordinator, of git and of its sandbox."""
ENDS: dict[str, set[str]] = {
    "killed": {"passed", "runner_lost"},
    "stopped for 60 s": {"passed", "runner_lost", FENCED},
    "stopped for 40 s": {"passed", "runner_lost", FENCED},
    "stopped for 20 s": {"passed", FENCED},
    "terminated": {"passed", "runner_terminated"},
    "not reached": {"passed"},
    "not heard": {"passed"},
    "cut off for 20 s": {"passed"},
    "cut off for 100 s": {"passed", "runner_lost", FENCED},
    "slow by 9 s": {"passed", FENCED},
    "canceled": {"passed", "canceled"},
}
"""What the run comes to, at one moment or another; a heartbeat that is late is refused also after a good end."""
PAIRS = 10
MORE = int(os.environ.get("ANVIL_PAIRS", "10")) * 20
"""Pairs of mishaps in the soak."""


@pytest.mark.timeout(300)
@pytest.mark.inv("Q14")
@pytest.mark.inv("R6")
@pytest.mark.parametrize("title", KINDS)
async def test_what_befalls_a_runner_at_any_call_breaks_no_promise(issuer: Issuer, title: str) -> None:
    seen = await explore(issuer, title)

    assert seen.violations == (), table([seen])
    assert set(+seen.reached) == ENDS[title]
    assert seen.calls == CALLS, "the runner makes other calls than it did: look whether that is meant"


@pytest.mark.timeout(300)
async def test_two_mishaps_of_one_run_break_no_promise(issuer: Issuer) -> None:
    assert await explore_pairs(issuer, count=PAIRS) == []


@pytest.mark.soak
@pytest.mark.timeout(3600)
async def test_no_further_two_mishaps_break_a_promise(issuer: Issuer) -> None:
    assert await explore_pairs(issuer, count=MORE, seed=1) == []


async def test_a_run_that_nothing_befalls_has_its_whole_log(issuer: Issuer) -> None:
    async with own_stage(issuer) as made:
        assert await made.rest() == []
        stored = made.log_of(made.world.pushed)

    assert stored == made.truth.written[made.world.pushed] != ""


async def test_the_same_calls_come_again_in_the_same_order(issuer: Issuer) -> None:
    assert await moments(issuer) == await moments(issuer)


@pytest.mark.parametrize("name", MUTANTS)
async def test_a_planted_bug_of_the_runner_is_found(issuer: Issuer, name: str) -> None:
    mutant = MUTANTS[name]
    kind = KINDS[mutant.happens]
    places = [each for each in await moments(issuer) if each.name == mutant.at and kind.wanted(each)]
    found: set[str] = set()
    with mutant.plant():
        for moment in places:
            found |= {violation.partition(":")[0] for violation in await play(issuer, (kind, moment))}
            if found & mutant.rules:
                return

    raise AssertionError(f"told of {sorted(found)}")
