"""Coordinators are killed at random for minutes while pushes come in; what was acknowledged is all there."""

import asyncio
import os
import random
import signal
from collections.abc import AsyncGenerator

import httpx2
import pytest

from services.coordinator.layout import INDEXES
from services.coordinator.records.run import RUNS, IndexSync
from services.kernel.adapters.clock import SystemClock
from services.kernel.adapters.firestore import FirestoreStore
from services.kernel.adapters.firestore_database import Database
from services.kernel.runs import Status
from services.kernel.wire.deliveries import HookAnswer
from services.local.cloud.stack import CloudStack
from services.local.story.push import Push
from tests.e2e.stack.workplace import Workplace
from tests.unit.local.reports import Reports

pytestmark = [pytest.mark.anyio, pytest.mark.soak, pytest.mark.timeout(600)]

SECONDS = 120
AGAIN_SECONDS = 0.2
SENDERS = 3


async def kill_coordinators(running: CloudStack, reports: Reports, *, until: float) -> int:
    """One after the other, whenever the last one is back and a moment has passed; how many."""
    loop, killed = asyncio.get_running_loop(), 0
    while loop.time() < until:
        await asyncio.sleep(random.uniform(0, 3))
        victim = f"coordinator-{random.choice((1, 2))}"
        os.killpg(running.pid(victim), signal.SIGKILL)
        killed += 1
        await reports.until(f"{victim} is back")
    return killed


async def keep_pushing(doors: tuple[Workplace, ...], sha: str, *, until: float) -> set[str]:
    """Push after push; the runs of those that were acknowledged."""
    loop, runs = asyncio.get_running_loop(), set[str]()
    push = doors[0].push(sha)
    while loop.time() < until:
        if (run := await acknowledged(random.choice(doors), push)) is not None:
            runs.add(run)
            push = doors[0].push(sha)
        await asyncio.sleep(AGAIN_SECONDS)
    return runs


async def acknowledged(door: Workplace, push: Push) -> str | None:
    """The push's run, if it was answered with success."""
    try:
        response = await door.deliver(push)
    except httpx2.TransportError:
        return None
    return HookAnswer.model_validate_json(response.content).run_id if response.is_success else None


@pytest.fixture
async def fresh(running: CloudStack, anyio_backend: str) -> AsyncGenerator[FirestoreStore]:
    """A client of the database that has seen nothing before."""
    database = Database(project=running.places.project, emulator=running.places.firestore)
    store = FirestoreStore(database, namespace="local", indexes=INDEXES, clock=SystemClock())
    yield store
    await store.close()


async def test_whatever_was_acknowledged_while_coordinators_were_killed_is_queued_or_active_or_has_ended(
    running: CloudStack, reports: Reports, workplace: Workplace, doors: tuple[Workplace, ...], fresh: FirestoreStore
) -> None:
    until = asyncio.get_running_loop().time() + SECONDS
    sha = workplace.commit("echo well")
    async with asyncio.TaskGroup() as chaos:
        killing = chaos.create_task(kill_coordinators(running, reports, until=until))
        pushing = [chaos.create_task(keep_pushing(doors, sha, until=until)) for _ in range(SENDERS)]
    acked = set[str]().union(*(task.result() for task in pushing))
    assert killing.result() > 10

    for run in acked:
        view = await workplace.finished(run)
        assert view.run.status is Status.PASSED or view.run.reason is not None
    queue = await workplace.api.queue(workplace.project)
    assert (queue.active_run, queue.used) == (None, 0)

    snapshots = await fresh.get([RUNS.ref(run) for run in sorted(acked)])
    stored = [RUNS.load_if(snapshot) for snapshot in snapshots]
    assert None not in stored
    assert {held.value.index_sync for held in stored if held is not None} == {IndexSync.DONE}
