"""Whoever is killed or stopped whenever, on a network that loses answers: what was acknowledged is done once, in order.

`ANVIL_KILLS` says how many are struck, two in each round; `ANVIL_KILLS_SEED` draws who, how and when.
"""

import asyncio
from collections.abc import Sequence
from pathlib import Path
from random import Random

import pytest

from tests.e2e.kills import record
from tests.e2e.kills.conftest import KILLS, LEASE, SEED, STALE, Scene
from tests.e2e.kills.load import Load
from tests.e2e.kills.report import Round
from tests.e2e.kills.site import Site
from tests.e2e.kills.stored import fresh
from tests.e2e.kills.strikes import Strike, When, drawn
from tests.e2e.kills.verdict import Evidence, wrong
from tests.e2e.kills.victim import Busy, struck
from tests.e2e.kills.watch import Watch, watching
from tests.emulator.network import Loss

pytestmark = [pytest.mark.anyio, pytest.mark.soak, pytest.mark.timeout(400)]

PROJECTS = 3
PUSHES = 10
TWICE = (4, 3, 3)
BY_HAND = 2
LOST_COMMITS, LOST_READS = 0.03, 0.005

STRIKES = drawn(KILLS, seed=SEED, lease=LEASE, stale=STALE)


async def strike(each: Strike, scene: Scene, *, watch: Watch, load: Load) -> bool:
    if each.when is When.EXECUTING:
        await watch.until_ended(PROJECTS * (PUSHES + BY_HAND) // 3)
        load.second_wave.set()
    await asyncio.sleep(each.after.total_seconds())
    return await struck(each, scene.running, reports=scene.reports, busy=load.busy)


async def storm(scene: Scene, sites: Sequence[Site], watch: Watch, *, turn: int) -> tuple[Load, tuple[bool, ...]]:
    """All that comes in, and the strikes; whether each strike hit something in the middle."""
    scene.network.loss = Loss(commits=LOST_COMMITS, others=LOST_READS, random=Random(f"{SEED} {turn} network"))
    load = Load(doors=scene.doors, random=Random(f"{SEED} {turn} load"), busy=Busy(scene.network))
    async with asyncio.TaskGroup() as coming:
        for site, twice in zip(sites, TWICE, strict=True):
            coming.create_task(load.on(site, twice=twice, by_hand=BY_HAND))
        striking = [coming.create_task(strike(each, scene, watch=watch, load=load)) for each in STRIKES[turn]]
    return load, tuple(task.result() for task in striking)


def _named(turn: int) -> str:
    return ", ".join(f"{each.victim} {each.how}" for each in STRIKES[turn])


@pytest.mark.parametrize("turn", range(len(STRIKES)), ids=lambda turn: f"{turn}: {_named(turn)}")
async def test_what_was_acknowledged_is_done_once_and_in_order_whoever_is_killed(
    scene: Scene, tmp_path: Path, turn: int
) -> None:
    scene.network.loss = None
    slugs = [f"kills-{turn}-{number}" for number in range(PROJECTS)]
    sites = [await Site.make(scene.doors[0], slug, folder=tmp_path / slug, pushes=PUSHES) for slug in slugs]
    async with fresh(scene.running, firestore=scene.firestore) as eyes, watching(eyes, slugs) as watch:
        load, busy = await storm(scene, sites, watch, turn=turn)
        drain = await watch.until_drained()
    async with fresh(scene.running, firestore=scene.firestore) as eyes:
        state = await eyes.state(slugs)
        found = await scene.changed_since(eyes)
    scene.over.update(state.documents)
    effects = {site: record.read(site.record) for site in sites}
    found += wrong(Evidence(load=load, state=state, effects=effects, positions=watch.positions))
    scene.report.ended(state.runs.values())
    scene.report.rounds.append(Round(strikes=STRIKES[turn], busy=busy, drain=drain, violations=len(found)))
    assert not found, _told(found, turn=turn)


def _told(found: Sequence[str], *, turn: int) -> str:
    return "\n".join((f"seed {SEED}, turn {turn}", *map(str, STRIKES[turn]), *found))
