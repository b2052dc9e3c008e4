"""Refusals are counted beside the project, by whichever instance, and touch nothing else."""

import pytest

from services.kernel.errors import Ambiguous, NotFound
from services.kernel.wire import internal
from services.kernel.wire.deliveries import Provider
from services.kernel.wire.webhooks import CountRefusals, Refusal
from tests.unit.coordinator.builders import seconds
from tests.unit.coordinator.driver import Driver
from tests.unit.coordinator.instance import Instance
from tests.unit.kernel.world import MovableClock

pytestmark = pytest.mark.anyio


async def tell(anvil: Driver, slug: str = "site", *, provider: Provider = Provider.GITHUB, times: int = 1) -> None:
    counts = CountRefusals(refused={provider: {Refusal.BAD_SIGNATURE: times}})
    await anvil.hooks.call(internal.COUNT_REFUSALS, path={"project": slug}, body=counts)


async def shown(anvil: Driver) -> dict[Refusal, int]:
    (webhook,) = (await anvil.console.call(internal.LIST_WEBHOOKS, path={"project": "site"})).items
    return webhook.refused


async def test_every_instances_counts_come_together_and_are_shown(anvil: Driver, another: Driver) -> None:
    assert await shown(anvil) == {}
    await tell(anvil, times=2)
    await tell(another, times=3)
    assert await shown(anvil) == await shown(another) == {Refusal.BAD_SIGNATURE: 5}


async def test_counting_writes_the_counters_and_nothing_else(anvil: Driver, home: Instance) -> None:
    await tell(anvil)
    await tell(anvil)
    assert home.store.committed() == [{"refusals"}, {"refusals"}]


async def test_for_a_webhook_or_project_that_does_not_exist_nothing_is_written(anvil: Driver, home: Instance) -> None:
    await tell(anvil, provider=Provider.GITLAB)
    with pytest.raises(NotFound):
        await tell(anvil, "nowhere")
    assert home.store.commits == []


async def test_a_rotation_ends_the_count_without_a_write_of_its_own(
    anvil: Driver, home: Instance, clock: MovableClock
) -> None:
    await tell(anvil)
    home.store.forget()
    clock.move(seconds(60))
    await anvil.rotate("v2")
    assert (await shown(anvil), home.store.committed()) == ({}, [{"projects", "audit"}])


async def test_a_race_that_is_lost_is_run_again(anvil: Driver, another: Driver, home: Instance) -> None:
    home.store.meanwhile = lambda: tell(another)
    await tell(anvil)
    assert await shown(anvil) == {Refusal.BAD_SIGNATURE: 2}


async def test_races_that_are_lost_again_and_again_are_given_up(anvil: Driver, another: Driver, home: Instance) -> None:
    async def first() -> None:
        await tell(another)
        home.store.meanwhile = first

    home.store.meanwhile = first
    with pytest.raises(Ambiguous, match="changed by others every time"):
        await tell(anvil)
    home.store.meanwhile = None
    assert await shown(anvil) == {Refusal.BAD_SIGNATURE: 5}


async def test_the_counts_go_with_their_project(anvil: Driver, home: Instance) -> None:
    await tell(anvil)
    await anvil.delete_project()
    assert home.store.committed()[-1] == {"projects", "slugs", "refusals", "audit"}
