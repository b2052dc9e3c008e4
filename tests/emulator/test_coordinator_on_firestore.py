"""The coordinator's whole work on Firestore, unchanged: what it asks is declared, and lost answers cost nothing."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from datetime import timedelta
from itertools import product
from pathlib import Path

import httpx2
import pytest
from grpc import StatusCode

from services.coordinator.app import World, create
from services.coordinator.layout import INDEXES
from services.coordinator.records.delivery import DELIVERIES
from services.coordinator.records.run import RUNS
from services.kernel.adapters.firestore import FirestoreStore
from services.kernel.adapters.firestore_database import Database
from services.kernel.adapters.local_minter import create_key
from services.kernel.ids import delivery_row_id
from services.kernel.runs import Reason, Status
from services.kernel.wire import internal
from services.kernel.wire.deliveries import Delivery, DeliveryQuery, Outcome, Provider
from services.kernel.wire.internal import LogQuery
from services.kernel.wire.model import PageQuery
from services.kernel.wire.runs import Run
from tests.emulator.network import Fault, network
from tests.unit.coordinator.builders import PROJECT_ID, SHA, run_id
from tests.unit.coordinator.callers import KeyFile
from tests.unit.coordinator.driver import Driver, chunk
from tests.unit.coordinator.instance import Instance, settings
from tests.unit.coordinator.queues import KeptTasks
from tests.unit.coordinator.stores import WatchedStore
from tests.unit.kernel.refusing import refusing
from tests.unit.kernel.world import CountingIds, MovableClock

pytestmark = [pytest.mark.anyio, pytest.mark.usefixtures("one_event_loop")]

STALE = timedelta(seconds=46)


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Where instances run: the same database, time and issuer for all of them."""

    database: Database
    keys: KeyFile
    clock: MovableClock = field(default_factory=MovableClock)
    ids: CountingIds = field(default_factory=CountingIds)


@pytest.fixture
def place(firestore: Database, tmp_path: Path) -> Place:
    create_key(tmp_path / "key.pem")
    return Place(database=firestore, keys=KeyFile(tmp_path / "key.pem"))


@asynccontextmanager
async def running(place: Place) -> AsyncGenerator[Driver]:
    """One more process of the coordinator."""
    backing = FirestoreStore(place.database, namespace="test", indexes=INDEXES, clock=place.clock)
    store, tasks = WatchedStore(backing), KeptTasks()
    world = World(store=store, tasks=tasks, keys=place.keys, clock=place.clock, ids=place.ids)
    app = create(settings(Path("unused")), world)
    made = Instance(app=app, store=store, tasks=tasks, clock=place.clock, keys=place.keys)
    try:
        yield Driver(made)
    finally:
        await made.settle()
        await backing.close()


@pytest.fixture
async def anvil(place: Place) -> AsyncIterator[Driver]:
    """A coordinator with the project `site`, which has a GitHub webhook at version `v1`."""
    async with running(place) as driver:
        await driver.create_project()
        await driver.create_webhook()
        yield driver


async def all_deliveries(anvil: Driver, asked: DeliveryQuery) -> list[Delivery]:
    found: list[Delivery] = []
    while True:
        page = await anvil.console.call(internal.LIST_DELIVERIES, path={"project": "site"}, body=asked)
        found += page.items
        if page.next_page_token is None:
            return found
        asked = asked.model_copy(update={"page_token": page.next_page_token})


async def all_runs(anvil: Driver, *, page_size: int) -> list[Run]:
    found: list[Run] = []
    asked = PageQuery(page_size=page_size)
    while True:
        page = await anvil.console.call(internal.LIST_RUNS, path={"project": "site"}, body=asked)
        found += page.items
        if page.next_page_token is None:
            return found
        asked = PageQuery(page_size=page_size, page_token=page.next_page_token)


async def test_twenty_deliveries_wait_in_order_and_the_twenty_first_is_told_to_come_again(anvil: Driver) -> None:
    for number in range(1, 21):
        assert (await anvil.push(number)).outcome is Outcome.ACCEPTED
    full = await anvil.push(21)
    assert (full.outcome, full.run_id) == (Outcome.QUEUE_FULL, None)

    again = await anvil.push(22, "d-1")
    assert (again.duplicate, again.run_id) == (True, run_id(1))
    assert [each.run_id for each in (await anvil.queue()).queued] == [run_id(number) for number in range(1, 21)]


async def test_deliveries_that_two_instances_get_at_once_are_each_queued_once(anvil: Driver, place: Place) -> None:
    async with running(place) as another:
        pushes = [(driver, number) for number in range(1, 9) for driver in (anvil, another)]
        await asyncio.gather(*(driver.push(number, f"d-{number}") for driver, number in pushes))

    waiting = [each.run_id for each in (await anvil.queue()).queued]
    assert sorted(waiting) == [run_id(number) for number in range(1, 9)]


async def test_a_run_goes_from_its_claim_to_its_end_and_the_next_one_follows(anvil: Driver) -> None:
    await anvil.push(1)
    await anvil.push(2)
    await anvil.begin(1)
    await anvil.append(1, chunk(0, "one\n", offset=0), chunk(1, "two\n", offset=4, first_line=2))
    await anvil.beat(1)
    await anvil.finish(1)
    await anvil.begin(2)
    await anvil.instance.settle()

    log = await anvil.console.call(internal.GET_LOG, path={"run": run_id(1)}, body=LogQuery(after=4))
    assert (log.text, log.complete) == ("two\n", True)
    assert [(each.run_id, each.status) for each in await anvil.listed()] == [
        (run_id(2), Status.RUNNING),
        (run_id(1), Status.PASSED),
    ]


async def test_a_sweep_finds_the_run_whose_runner_is_gone(anvil: Driver) -> None:
    await anvil.push(1)
    await anvil.begin(1)
    await anvil.instance.settle()
    swept = await anvil.sweep(later=STALE)

    assert (swept.looked_at, swept.failed) == (1, 0)
    lost = (await anvil.show(1)).run
    assert (lost.status, lost.reason) == (Status.FAILED, Reason.RUNNER_LOST)


@pytest.mark.parametrize("page_size", [1, 2, 5])
async def test_runs_are_listed_page_by_page_each_once_newest_first(anvil: Driver, place: Place, page_size: int) -> None:
    for number in range(1, 6):
        await anvil.push(number)
        place.clock.move(timedelta(milliseconds=number // 3))  # The first three came at the same moment.
    await anvil.instance.settle()

    runs = await all_runs(anvil, page_size=page_size)
    assert [run.run_id for run in runs] == [run_id(number) for number in (5, 4, 3, 2, 1)]


@pytest.mark.parametrize("commit_sha", [None, SHA])
async def test_deliveries_are_found_by_any_choice_of_filters(anvil: Driver, commit_sha: str | None) -> None:
    for number in range(1, 4):
        await anvil.push(number)
    choices = product([None, Provider.GITHUB], [None, Outcome.ACCEPTED], [None, "main"])
    for provider, outcome, branch in choices:
        asked = DeliveryQuery(provider=provider, outcome=outcome, branch=branch, commit_sha=commit_sha, page_size=2)
        found = await all_deliveries(anvil, asked)
        assert sorted(each.delivery_id for each in found) == ["d-1", "d-2", "d-3"], asked

    assert await all_deliveries(anvil, DeliveryQuery(branch="other")) == []


async def test_projects_are_listed(anvil: Driver) -> None:
    await anvil.create_project("other", 2)

    page = await anvil.console.call(internal.LIST_PROJECTS)
    assert sorted(project.slug for project in page.items) == ["other", "site"]


async def test_a_delivery_whose_commit_got_no_answer_is_accepted_once(anvil: Driver, place: Place) -> None:
    assert place.database.emulator is not None
    async with network(place.database.emulator) as between:
        behind = replace(place, database=replace(place.database, emulator=between.address))
        async with running(behind) as driver:
            await driver.push(1)
            between.fault = Fault.CUT_ONE_ANSWER
            answer = await driver.push(2)

    assert between.cuts == 1
    assert (answer.outcome, answer.duplicate, answer.run_id) == (Outcome.ACCEPTED, False, run_id(2))
    assert [each.run_id for each in (await anvil.queue()).queued] == [run_id(1), run_id(2)]
    assert (await anvil.instance.stored(RUNS, run_id(2))).position == 2
    assert (await anvil.instance.stored(DELIVERIES, delivery_row_id(PROJECT_ID, "github", "d-2"))).run_id == run_id(2)


@pytest.mark.parametrize(
    ("status", "detail"),
    [
        (StatusCode.PERMISSION_DENIED, "Missing or insufficient permissions."),
        (StatusCode.NOT_FOUND, "The database (default) does not exist for project demo-p"),
    ],
    ids=["permission", "database"],
)
@pytest.mark.req("R115")
async def test_a_coordinator_whose_database_or_permission_is_missing_is_not_ready(
    place: Place, status: StatusCode, detail: str
) -> None:
    async with refusing(status, detail) as server:
        refused = replace(place, database=replace(place.database, emulator=server.address))
        async with running(refused) as driver:
            transport = httpx2.ASGITransport(driver.instance)
            async with httpx2.AsyncClient(transport=transport, base_url="http://coordinator") as http:
                answer = await http.get("/readyz")

    assert (answer.status_code, answer.json()["code"]) == (503, "unavailable")
    assert server.calls == ["read"]
