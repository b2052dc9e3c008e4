"""`/readyz` of the coordinator: it says which of its databases does not answer, and soon."""

import asyncio
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path

import httpx2
import pytest
from grpc import StatusCode

from services.coordinator.app import World, create
from services.coordinator.ledger.backend import Backend
from services.coordinator.ledger.readiness import Readiness
from services.kernel.adapters.clock import SystemClock
from services.kernel.adapters.firestore import FirestoreStore
from services.kernel.adapters.firestore_database import Database
from services.kernel.errors import AnvilError, Invalid, LedgerUnavailable, Unavailable
from services.kernel.ports import Query, Ref, Snapshot, Store, Version, Write
from tests.unit.coordinator.callers import KeyFile
from tests.unit.coordinator.instance import settings
from tests.unit.coordinator.ledger.shelf import COLLECTION, INDEXES
from tests.unit.coordinator.queues import KeptTasks
from tests.unit.kernel.refusing import refusing
from tests.unit.kernel.world import CountingIds, MovableClock

pytestmark = [pytest.mark.anyio, pytest.mark.usefixtures("one_event_loop")]

READY = (200, {"ready": True, "service": "coordinator"})
NO_LEDGER = (503, {"ready": False, "service": "coordinator", "code": "ledger_unavailable"})
NO_STATE = (503, {"ready": False, "service": "coordinator", "code": "unavailable"})
AWAY = Unavailable("no route to 10.1.2.3")


@dataclass(slots=True)
class Probed:
    """Implements `ports.Store` without documents, and lets nothing be changed or searched.

    Answers once `answering` is set, with `refusal` if there is one.
    """

    refusal: AnvilError | None = None
    arrived: asyncio.Event = field(default_factory=asyncio.Event)
    answering: asyncio.Event = field(default_factory=asyncio.Event)
    asked: list[tuple[list[Ref], Sequence[str] | None]] = field(
        default_factory=list[tuple[list[Ref], Sequence[str] | None]]
    )

    def __post_init__(self) -> None:
        self.answering.set()

    async def get(self, refs: Sequence[Ref], *, fields: Sequence[str] | None = None) -> list[Snapshot | None]:
        self.asked.append((list(refs), fields))
        self.arrived.set()
        await self.answering.wait()
        if self.refusal is not None:
            raise self.refusal
        return [None for _ in refs]

    async def commit(self, writes: Sequence[Write]) -> list[Version]:
        raise AssertionError(writes)

    async def query(self, query: Query) -> list[Snapshot]:
        raise AssertionError(query)


async def _stays_open() -> None:
    return


@asynccontextmanager
async def coordinator(
    keys: KeyFile, state: Store, ledger: Store | None, *, clock: MovableClock | None = None
) -> AsyncGenerator[httpx2.AsyncClient]:
    backend = None if ledger is None else Backend(name="probed", store=ledger, durable=True, close=_stays_open)
    world = World(
        store=state, tasks=KeptTasks(), keys=keys, clock=clock or MovableClock(), ids=CountingIds(), ledger=backend
    )
    transport = httpx2.ASGITransport(create(settings(Path("unused")), world))
    async with httpx2.AsyncClient(transport=transport, base_url="http://coordinator") as http:
        yield http


async def answer(http: httpx2.AsyncClient) -> tuple[int, object]:
    found = await http.get("/readyz")
    return found.status_code, found.json()


def ledger_at(address: str) -> FirestoreStore:
    database = Database(project="demo-ledger", emulator=address)
    return FirestoreStore(database, namespace="test", indexes=INDEXES, clock=SystemClock())


@pytest.mark.req("R114")
async def test_a_probe_reads_one_field_of_one_row_of_each_and_changes_nothing(keys: KeyFile) -> None:
    state, ledger = Probed(), Probed()
    async with coordinator(keys, state, ledger) as http:
        assert await answer(http) == READY

    assert state.asked == [([Ref("projects", "ready")], ("schema",))]
    assert ledger.asked == [([Ref(COLLECTION, "0" * 64)], ("status",))]


@pytest.mark.parametrize(
    ("state", "ledger", "expected"),
    [
        (AWAY, None, NO_STATE),
        (None, AWAY, NO_LEDGER),
        (AWAY, AWAY, NO_LEDGER),
        (None, Invalid("Firestore does not understand a read."), NO_LEDGER),
    ],
    ids=["state", "ledger", "both", "ledger of another kind"],
)
async def test_who_does_not_answer_is_told_by_the_code_and_no_more(
    keys: KeyFile, state: AnvilError | None, ledger: AnvilError | None, expected: tuple[int, object]
) -> None:
    async with coordinator(keys, Probed(state), Probed(ledger)) as http:
        assert await answer(http) == expected


async def test_a_coordinator_without_a_ledger_is_ready_by_its_state_alone(keys: KeyFile) -> None:
    async with coordinator(keys, Probed(), None) as http:
        assert await answer(http) == READY
    async with coordinator(keys, Probed(AWAY), None) as http:
        assert await answer(http) == NO_STATE


@pytest.mark.parametrize(
    ("status", "detail"),
    [
        (StatusCode.PERMISSION_DENIED, "Missing or insufficient permissions."),
        (StatusCode.NOT_FOUND, "The database ledger does not exist for project demo-ledger"),
    ],
    ids=["permission", "database"],
)
@pytest.mark.req("R115")
@pytest.mark.inv("I11")
async def test_a_ledger_whose_database_or_permission_is_missing_is_not_ready(
    keys: KeyFile, status: StatusCode, detail: str
) -> None:
    async with refusing(status, detail) as server:
        store = ledger_at(server.address)
        async with coordinator(keys, Probed(), store) as http:
            assert await answer(http) == NO_LEDGER
        await store.close()
    assert server.calls == ["read"]


async def test_a_ledger_that_hangs_is_not_ready_within_three_seconds(keys: KeyFile) -> None:
    """It takes the connection, and then says nothing."""
    connected: list[asyncio.StreamWriter] = []

    async def take(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        connected.append(writer)

    server = await asyncio.start_server(take, "127.0.0.1", 0)
    store = ledger_at(f"127.0.0.1:{server.sockets[0].getsockname()[1]}")
    clock = SystemClock()
    began = clock.elapsed()
    async with coordinator(keys, Probed(), store) as http:
        assert await answer(http) == NO_LEDGER
    assert clock.elapsed() - began < timedelta(seconds=3)

    await store.close()
    for writer in connected:
        writer.close()
    server.close()


async def test_a_probe_that_does_not_come_back_is_given_up() -> None:
    state, ledger = Probed(), Probed()
    ledger.answering.clear()
    readiness = Readiness(
        state=lambda: state.get([]), ledger=lambda: ledger.get([]), clock=MovableClock(), within=timedelta(seconds=0.02)
    )
    with pytest.raises(LedgerUnavailable):
        await readiness.check()


@pytest.mark.parametrize(
    ("refusal", "expected", "kept"), [(None, READY, 30), (AWAY, NO_LEDGER, 5)], ids=["ready", "refused"]
)
async def test_an_answer_is_kept_for_a_while(
    keys: KeyFile, refusal: AnvilError | None, expected: tuple[int, object], kept: int
) -> None:
    state, ledger, clock = Probed(), Probed(refusal), MovableClock()
    async with coordinator(keys, state, ledger, clock=clock) as http:
        for _ in range(3):
            assert await answer(http) == expected
        clock.move(timedelta(seconds=kept) - timedelta(milliseconds=1))
        assert await answer(http) == expected
        assert (len(state.asked), len(ledger.asked)) == (1, 1)

        clock.move(timedelta(milliseconds=1))
        ledger.refusal = None if refusal else AWAY
        assert await answer(http) == (READY if refusal else NO_LEDGER)
        assert (len(state.asked), len(ledger.asked)) == (2, 2)


async def test_probes_at_once_share_one(keys: KeyFile) -> None:
    state, ledger = Probed(), Probed()
    ledger.answering.clear()
    async with coordinator(keys, state, ledger) as http:
        asked = [asyncio.ensure_future(answer(http)) for _ in range(5)]
        await ledger.arrived.wait()
        late = asyncio.ensure_future(answer(http))
        asked[0].cancel()
        await asyncio.sleep(0)
        ledger.answering.set()
        assert await asyncio.gather(*asked[1:], late) == [READY] * 5

    assert (len(state.asked), len(ledger.asked)) == (1, 1)
