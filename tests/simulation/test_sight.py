"""The simulation can see what ingress may do wrong: a bug that is planted is told by the rule that it breaks."""

from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass

import pytest

from services.coordinator.logs import Logs
from services.coordinator.records.project import Project
from services.coordinator.rules import deliveries
from services.ingress.materials import LoadNumber, Material, Webhook
from services.ingress.providers.port import GitHost, Received
from services.ingress.verification import Verification
from services.kernel.errors import InvalidSignature
from services.kernel.ids import RunId
from services.kernel.ports import Write
from services.kernel.wire.deliveries import AcceptDelivery
from services.kernel.wire.runs import LogChunk
from tests.simulation.crash_points import explore
from tests.simulation.node import Issuer
from tests.simulation.storm import rage
from tests.simulation.world import replaced

pytestmark = pytest.mark.anyio

SEEDS = 40


@dataclass(frozen=True, slots=True, kw_only=True)
class Planted:
    """It shows in `flow`, or else in a storm; `rule` is what tells of it."""

    plant: Callable[[], AbstractContextManager[None]]
    rule: str
    flow: str | None = None


def takes_an_old_secret() -> AbstractContextManager[None]:
    """What an instance of ingress has kept is good enough for the coordinator (C11)."""

    def check(project: Project, command: AcceptDelivery) -> None:
        return

    return replaced(deliveries, "check", check)


def takes_any_signature() -> AbstractContextManager[None]:
    """Whatever is sent to a webhook that there is counts as verified (D1)."""

    def judged(
        self: Verification, material: Material, webhook: Webhook, host: GitHost, received: Received
    ) -> str | None:
        return material.verification.version

    return replaced(Verification, "_judged", judged)


def tells_which_webhooks_there_are() -> AbstractContextManager[None]:
    """A refusal says whether there was anything to verify by (H2)."""
    original = Verification.verify_anew

    async def verify_anew(
        self: Verification, webhook: Webhook, host: GitHost, received: Received, *, mark: LoadNumber
    ) -> str:
        try:
            return await original(self, webhook, host, received, mark=mark)
        except InvalidSignature:
            raise InvalidSignature(f"{webhook.provider} of {webhook.project}") from None

    return replaced(Verification, "verify_anew", verify_anew)


def keeps_the_newest_piece_alone() -> AbstractContextManager[None]:
    """Of several chunks in one call only the last is stored, and all are acknowledged."""
    original = vars(Logs)["_creates"]

    def creates(self: Logs, run_id: RunId, chunks: list[LogChunk]) -> list[Write]:
        stored: list[Write] = original(self, run_id, chunks[-1:])
        return stored

    return replaced(Logs, "_creates", creates)


PLANTED: dict[str, Planted] = {
    "takes an old secret": Planted(plant=takes_an_old_secret, rule="K4"),
    "takes any signature": Planted(plant=takes_any_signature, rule="D1", flow="F1 forged"),
    "tells which webhooks there are": Planted(plant=tells_which_webhooks_there_are, rule="D1"),
    "keeps the newest piece of a log alone": Planted(plant=keeps_the_newest_piece_alone, rule="LOG"),
}


@pytest.mark.parametrize("name", PLANTED)
async def test_a_planted_bug_of_the_edge_is_found(issuer: Issuer, name: str) -> None:
    planted = PLANTED[name]
    with planted.plant():
        found = await _found(issuer, planted)

    assert any(f"{planted.rule}: " in each for each in found), found


async def _found(issuer: Issuer, planted: Planted) -> list[str]:
    if planted.flow is not None:
        return list((await explore(issuer, planted.flow, pairs=0)).violations)
    for seed in range(SEEDS):
        _, found = await rage(issuer, seed)
        if any(each.startswith(f"{planted.rule}: ") for each in found):
            return found
    return []
