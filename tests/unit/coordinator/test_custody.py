"""What of a webhook's secret leaves the coordinator, and what it could do with it: nothing."""

import httpx2
import pytest

from services.kernel.adapters.local_minter import LocalMinter
from services.kernel.wire.deliveries import Outcome
from tests.architecture.names import imported, within
from tests.architecture.tree import ROOT, Tree
from tests.unit.coordinator import callers
from tests.unit.coordinator.builders import PROJECT_ID
from tests.unit.coordinator.driver import SEALED, Driver
from tests.unit.coordinator.instance import Instance

pytestmark = pytest.mark.anyio

VERIFIES = frozenset({"cryptography", "hashlib.hmac", "hmac", "services.kernel.seal"})


@pytest.mark.req("R81")
async def test_hooks_are_given_the_sealed_secret_of_one_webhook_and_no_more(anvil: Driver, home: Instance) -> None:
    minter = LocalMinter(home.keys.path, email=callers.HOOKS, issuer=callers.ISSUER, clock=home.clock)
    token = (await minter.mint(callers.AUDIENCE)).value
    async with httpx2.AsyncClient(transport=httpx2.ASGITransport(home), base_url="http://coordinator") as http:
        answer = await http.get(
            "/v1/projects/site/webhooks/github:verification", headers={"Authorization": f"Bearer {token}"}
        )
    assert answer.json() == {
        "projectId": PROJECT_ID,
        "version": "v1",
        "enabled": True,
        "config": {"instanceUrl": None, "signingToken": False},
        "secret": {"secretId": "s1", "keyVersion": "1", "nonce": "bm9uY2U=", "ciphertext": SEALED},
    }


@pytest.mark.req("R85")
async def test_what_ingress_verified_is_taken_by_code_that_could_open_and_verify_nothing(anvil: Driver) -> None:
    # The stored ciphertext is none that opens.
    assert (await anvil.push(1)).outcome is Outcome.ACCEPTED
    sources = [source for source in Tree(ROOT).sources() if source.path.startswith("services/coordinator/")]
    assert len(sources) > 40
    assert not any(within(name, VERIFIES) for source in sources for _, name in imported(source.module))
