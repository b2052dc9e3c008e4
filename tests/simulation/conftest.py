"""One issuer for all worlds, and no log of them."""

from collections.abc import Generator

import pytest

from tests.simulation.node import Issuer
from tests.simulation.world import quiet


@pytest.fixture(scope="session")
def issuer(tmp_path_factory: pytest.TempPathFactory) -> Issuer:
    return Issuer(tmp_path_factory.mktemp("simulation"))


@pytest.fixture(autouse=True)
def unheard() -> Generator[None]:
    with quiet():
        yield
