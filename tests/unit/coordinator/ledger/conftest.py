"""Every promise of the ledger is asked of both stores."""

from collections.abc import AsyncGenerator
from pathlib import Path

import pytest

from tests.unit.coordinator.ledger.shelf import Shelf, on_firestore, on_sqlite, shelf


@pytest.fixture(params=["sqlite", "firestore"])
async def home(request: pytest.FixtureRequest, tmp_path: Path, one_event_loop: None) -> AsyncGenerator[Shelf]:
    """A ledger without rows."""
    if request.param == "sqlite":
        opened = on_sqlite(tmp_path / "ledger.sqlite")
    else:
        opened = on_firestore(request.getfixturevalue("firestore"))
    async with opened as store:
        yield shelf(store)
