"""An instance keeps the last state that it committed, but never answers by it what another instance made untrue."""

import pytest

from services.kernel.errors import NotFound, StaleVerification
from services.kernel.wire.deliveries import EventKind, Outcome
from tests.unit.coordinator.builders import canonical, run_id
from tests.unit.coordinator.driver import Driver

pytestmark = pytest.mark.anyio


async def full(another: Driver) -> None:
    """The other instance accepted the last of 20 that wait, so it knows the queue as full."""
    for number in range(1, 21):
        await another.push(number)


async def test_a_queue_that_another_instance_made_room_in_takes_a_push(anvil: Driver, another: Driver) -> None:
    await full(another)
    await anvil.cancel(3)

    assert (await another.push(21)).outcome is Outcome.ACCEPTED


async def test_a_queue_that_another_instance_made_room_in_takes_a_manual_run(anvil: Driver, another: Driver) -> None:
    await full(another)
    await anvil.cancel(3)

    assert await another.ask_for_run(21) == run_id(21)


async def test_a_branch_that_another_instance_tracks_now_is_not_ignored(anvil: Driver, another: Driver) -> None:
    await another.push(1)
    await anvil.patch_project(default_branch="trunk")
    pushed = canonical("d-2").model_copy(update={"branch": "trunk"})

    assert (await another.deliver(pushed, 2)).outcome is Outcome.ACCEPTED


async def test_a_secret_that_another_instance_replaced_verifies_not_even_a_ping(anvil: Driver, another: Driver) -> None:
    await another.push(1)
    await anvil.rotate("v2")
    ping = canonical("d-2").model_copy(update={"event_kind": EventKind.PING})

    with pytest.raises(StaleVerification):
        await another.deliver(ping, 2)


async def test_a_secret_that_another_instance_made_verifies_at_once(anvil: Driver, another: Driver) -> None:
    await another.push(1)
    await anvil.rotate("v2")

    assert (await another.push(2, version="v2")).run_id == run_id(2)


async def test_a_run_that_another_instance_claimed_is_not_given_away_again(anvil: Driver, another: Driver) -> None:
    await another.push(1)
    await anvil.begin(1)

    assert (await another.claim(1, attempt=2)).job is None


async def test_a_project_that_another_instance_deleted_takes_nothing(anvil: Driver, another: Driver) -> None:
    await another.push(1)
    await another.cancel(1)
    await anvil.delete_project()

    with pytest.raises(NotFound):
        await another.ask_for_run(2)
    with pytest.raises(NotFound):
        await another.rotate("v2")
