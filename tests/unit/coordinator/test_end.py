"""An instance that ends lets go of what it was given."""

from pathlib import Path

import pytest

from services.coordinator.app import World, create
from services.kernel.adapters.clock import SystemClock, SystemIds
from services.kernel.adapters.local_minter import create_key
from tests.unit.coordinator.callers import KeyFile
from tests.unit.coordinator.driver import Driver
from tests.unit.coordinator.instance import settings
from tests.unit.coordinator.queues import KeptTasks

pytestmark = pytest.mark.anyio


async def test_the_store_and_the_task_queue_are_let_go_at_the_end_and_not_before(anvil: Driver, tmp_path: Path) -> None:
    closed: list[str] = []

    async def close() -> None:
        closed.append("the world")

    create_key(tmp_path / "key.pem")
    world = World(
        store=anvil.instance.store,
        tasks=KeptTasks(),
        keys=KeyFile(tmp_path / "key.pem"),
        clock=SystemClock(),
        ids=SystemIds(),
        close=close,
    )
    app = create(settings(tmp_path / "unused"), world)
    async with app.router.lifespan_context(app):
        assert closed == []
    assert closed == ["the world"]
