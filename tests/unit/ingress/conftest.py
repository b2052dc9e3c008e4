"""One issuer for all, a fresh site for each test."""

from collections.abc import AsyncGenerator

import pytest

from tests.unit.ingress.issuer import Issuer
from tests.unit.ingress.site import Site, site


@pytest.fixture(scope="session")
def issuer() -> Issuer:
    return Issuer()


@pytest.fixture(name="site")
async def a_site(issuer: Issuer) -> AsyncGenerator[Site]:
    async with site(issuer) as made:
        yield made
