"""The numbers that Anvil really has, where the simulation lowers them."""

import importlib
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

from tests.simulation.node import Issuer
from tests.simulation.world import replaced

CAP = 20


@contextmanager
def real_numbers(folder: Path) -> Generator[Issuer]:
    """An issuer of such worlds; they are held to the same cap."""
    issuer = Issuer(folder)
    issuer.settings = issuer.settings.model_copy(update={"queue_cap": CAP})
    with replaced(importlib.import_module("tests.simulation.world"), "CAP", CAP):
        yield issuer
