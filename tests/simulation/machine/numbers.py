"""The numbers that Anvil really has, where the simulation lowers them."""

from pathlib import Path

from tests.simulation.node import Issuer
from tests.simulation.profile import REAL


def real_numbers(folder: Path) -> Issuer:
    """An issuer of worlds in which as many may wait, and time is as long, as in production."""
    issuer = Issuer(folder)
    issuer.settings = issuer.settings.model_copy(update={"queue_cap": REAL.cap})
    return issuer
