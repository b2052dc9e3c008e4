"""What becomes of calls to a store, as `shelf.Line` takes it."""

from collections.abc import Sequence
from datetime import timedelta
from typing import TypeAlias

import pytest

from services.kernel.errors import Contended, Unavailable
from tests.unit.coordinator.ledger.shelf import MAX_UNTIL, Fate
from tests.unit.kernel.world import NOON

AWAY = Unavailable("the store is away")
LOCKED = Contended("others hold the row")
FOREVER = 1000
AFTER = MAX_UNTIL - NOON + timedelta(seconds=1)

Fates: TypeAlias = Sequence[Fate]

MENDED = pytest.mark.parametrize(
    "fates",
    [
        ["lost"],
        ["dropped"],
        ["dropped", "lost"],
        ["dropped", "dropped", "dropped"],
        [LOCKED],
        [LOCKED, "lost"],
        ["dropped", AWAY, "lost"],
    ],
    ids=lambda fates: "-".join(str(fate) if isinstance(fate, str) else fate.code for fate in fates),
)
"""Of which the last write, or the one after it, is applied."""
