"""What Cloud Tasks does when it delivers one task again and again, and to any runner."""

import httpx2

from services.kernel.adapters.clock import SystemClock
from services.kernel.adapters.local_minter import LocalMinter
from services.kernel.wire import internal
from services.local import identities
from services.local.addresses import Service
from services.local.cloud.stack import CloudStack


async def hand_over(running: CloudStack, http: httpx2.AsyncClient, *, runner: int, run: str) -> httpx2.Response:
    """Deliver the run's task to one runner."""
    clock = SystemClock()
    minter = LocalMinter(running.state.issuer_key, email=identities.TASKS, issuer=identities.ISSUER, clock=clock)
    token = await minter.mint(identities.RUNNER_AUDIENCE)
    return await http.post(
        running.places.urls(Service.RUNNER)[runner] + internal.RUN.path,
        json={"run": run, "dispatch": 1},
        headers={"Authorization": f"Bearer {token.value}"},
    )
