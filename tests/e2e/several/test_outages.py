"""A database that is down, hangs or refuses: pushes are told to come again in time, and nothing is lost."""

import asyncio
from collections.abc import AsyncGenerator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass
from datetime import timedelta
from itertools import count
from pathlib import Path

import pytest
from grpc import StatusCode

from services.kernel.runs import Status
from services.local import addresses, state
from services.local.cloud import stack
from services.local.cloud.stack import CloudStack
from services.local.story.api import Api
from tests.e2e.stack.workplace import Workplace
from tests.emulator.network import Network, network
from tests.unit.kernel.refusing import refusing
from tests.unit.local.reports import Reports

pytestmark = pytest.mark.anyio

ANSWERED_WITHIN = timedelta(seconds=5)
"""A webhook has 4 s, for the least patient Git host waits for 5; a busy machine brings the answer a moment later."""

_numbers = count(1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Scene:
    """A stack, the network between it and its database, and where that is in truth."""

    running: CloudStack
    network: Network
    firestore: str

    @asynccontextmanager
    async def down(self) -> AsyncGenerator[None]:
        self.network.cut()
        yield
        self.network.lead_to(self.firestore)

    @asynccontextmanager
    async def hung(self) -> AsyncGenerator[None]:
        self.network.hold()
        yield
        self.network.let_go()

    @asynccontextmanager
    async def refusing(self) -> AsyncGenerator[None]:
        async with refusing(StatusCode.PERMISSION_DENIED, "Missing or insufficient permissions.") as other:
            self.network.lead_to(other.address)
            yield
        self.network.lead_to(self.firestore)


@pytest.fixture(scope="module")
async def scene(
    tmp_path_factory: pytest.TempPathFactory, firestore_emulator: str, anyio_backend: str
) -> AsyncGenerator[Scene]:
    with state.held(tmp_path_factory.mktemp("outages")) as directory:
        async with (
            network(firestore_emulator) as between,
            stack.running(
                directory, addresses=addresses.choose(0), report=Reports(), firestore=between.address
            ) as running,
        ):
            yield Scene(running=running, network=between, firestore=firestore_emulator)


@pytest.fixture
async def workplace(scene: Scene, tmp_path: Path) -> AsyncGenerator[Workplace]:
    async with Api.of(scene.running) as api:
        yield await Workplace.make(api, f"project-{next(_numbers)}", folder=tmp_path / "one")


async def told_to_come_again(workplace: Workplace, *, pushes: int) -> timedelta:
    """Deliver so many at once; the longest that one of them took to be answered so."""
    loop = asyncio.get_running_loop()

    async def one() -> float:
        began = loop.time()
        # To a branch that is not built: what a hanging store was sent, it may apply later.
        answer = await workplace.deliver(workplace.push("1" * 40, branch="other"))
        assert (answer.status_code, answer.headers["Retry-After"]) == (503, "5"), answer.text
        return loop.time() - began

    return timedelta(seconds=max(await asyncio.gather(*(one() for _ in range(pushes)))))


@pytest.mark.parametrize("outage", [Scene.down, Scene.hung, Scene.refusing])
async def test_while_the_store_is_away_pushes_are_told_to_come_again_and_afterwards_everything_goes_on(
    scene: Scene, workplace: Workplace, outage: Callable[[Scene], AbstractAsyncContextManager[None]]
) -> None:
    before = await workplace.run_of(workplace.push(workplace.commit(workplace.waits_at_the_gate)))
    await workplace.running(before)
    late = workplace.push(workplace.commit("echo late"))
    async with outage(scene):
        assert await told_to_come_again(workplace, pushes=5) < ANSWERED_WITHIN
        assert (await workplace.deliver(late)).status_code == 503

    workplace.gate.touch()
    accepted = await workplace.answered(late)
    assert accepted.status_code in (200, 202), accepted.text
    assert (await workplace.finished(before)).run.status is Status.PASSED
    assert (await workplace.finished(accepted.json()["runId"])).run.status is Status.PASSED
    assert len(await workplace.api.runs(workplace.project)) == 2
