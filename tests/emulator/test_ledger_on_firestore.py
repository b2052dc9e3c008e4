"""The ledger over a network that loses answers: what really comes back from a database, and what is there then."""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import timedelta
from random import Random

import httpx2
import pytest

from services.coordinator.ledger.ledger import Ledger, Replayed, Reserved, Running, Wanted
from services.kernel import deadline
from services.kernel.adapters.clock import SystemClock, SystemIds
from services.kernel.adapters.firestore import FirestoreStore
from services.kernel.adapters.firestore_database import Database
from services.kernel.errors import LedgerUnavailable, NotFound, OutcomeUnknown
from services.kernel.wire.ledger import LedgerQuery
from tests.emulator.network import Fault, Loss, Network, network
from tests.unit.coordinator.ledger.shelf import COLLECTION, INDEXES, OK, WEEK, document
from tests.unit.coordinator.ledger.shelf import wanted as wanted_at_noon

pytestmark = [pytest.mark.anyio, pytest.mark.usefixtures("one_event_loop")]

CLOCK = SystemClock()


def wanted(*, settled_from: timedelta = timedelta(seconds=-1)) -> Wanted:
    """A call of which an operator may judge at once."""
    return wanted_at_noon(max_until=CLOCK.now() + settled_from)


def opened(database: Database) -> tuple[FirestoreStore, Ledger]:
    store = FirestoreStore(database, namespace="test", indexes=INDEXES, clock=CLOCK)
    return store, Ledger(store, collection=COLLECTION, durable=True, clock=CLOCK, ids=SystemIds())


@pytest.fixture
async def between(firestore: Database) -> AsyncIterator[Network]:
    assert firestore.emulator is not None
    async with network(firestore.emulator) as carrying:
        yield carrying


@pytest.fixture
async def ledger(firestore: Database, between: Network) -> AsyncIterator[Ledger]:
    """Behind the network, and connected."""
    store, ledger = opened(replace(firestore, emulator=between.address))
    await ledger.probe()
    yield ledger
    await store.close()


@pytest.fixture
async def direct(firestore: Database) -> AsyncIterator[Ledger]:
    """The same ledger, without the network."""
    store, ledger = opened(firestore)
    yield ledger
    await store.close()


async def reserved(ledger: Ledger, key: str = "order-4711") -> Reserved:
    taken = await ledger.reserve(document(key), wanted())
    assert isinstance(taken, Reserved)
    return taken


@pytest.mark.inv("I15")
async def test_a_reservation_whose_answer_was_cut_off_is_ones_own(
    ledger: Ledger, direct: Ledger, between: Network
) -> None:
    between.fault = Fault.CUT_ONE_ANSWER
    taken = await reserved(ledger)

    assert between.cuts == 1
    assert isinstance(await direct.reserve(document(), wanted()), Running)
    assert (await direct.read(document())).value == taken.row


async def test_an_expired_row_whose_takeover_was_cut_off_is_taken_over(
    ledger: Ledger, direct: Ledger, between: Network
) -> None:
    await ledger.complete(await reserved(ledger), OK, ttl=timedelta())
    between.loss = Loss(commits=1, others=0, random=Random(0))
    taken = await reserved(ledger)

    assert between.lost_commits == 2  # The guess that there is no row, and the takeover.
    assert (await direct.read(document())).value == taken.row


@pytest.mark.parametrize("ending", ["complete", "release", "settle_complete", "settle_release"])
async def test_the_end_of_a_row_whose_answer_was_cut_off_is_its_end(
    ledger: Ledger, direct: Ledger, between: Network, ending: str
) -> None:
    taken = await reserved(ledger)
    between.loss = Loss(commits=1, others=0, random=Random(0))
    match ending:
        case "complete":
            await ledger.complete(taken, OK, ttl=WEEK)
        case "release":
            await ledger.release(taken)
        case "settle_complete":
            await ledger.settle_complete(document(), taken.version, OK, ttl=WEEK)
        case _:
            await ledger.settle_release(document(), taken.version)

    assert between.lost_commits == 1
    if ending.endswith("complete"):
        assert isinstance(await direct.reserve(document(), wanted()), Replayed)
    else:
        with pytest.raises(NotFound):
            await direct.read(document())


@pytest.mark.parametrize("seed", range(4))
async def test_whatever_answers_are_lost_a_row_is_as_its_owner_was_told(
    ledger: Ledger, direct: Ledger, between: Network, seed: int
) -> None:
    random = Random(seed)
    between.loss = Loss(commits=0.4, others=0.2, random=Random(seed))
    said: dict[str, str] = {}
    for number in range(12):
        key, ending = f"key-{number}", random.choice(["complete", "release", "leave"])
        taken = await reserved(ledger, key)
        if ending == "complete":
            await ledger.complete(taken, OK, ttl=WEEK)
        if ending == "release":
            await ledger.release(taken)
        said[ledger.reference(document(key))] = ending

    found = {row.ledger_ref: row.status for row in (await direct.page(LedgerQuery(page_size=100))).items}
    expected = {"complete": "completed", "leave": "in_progress"}
    assert found == {reference: expected[ending] for reference, ending in said.items() if ending in expected}
    assert between.lost_commits > 0


async def test_a_ledger_that_hangs_is_away_as_soon_as_the_caller_has_no_time_left(
    ledger: Ledger, direct: Ledger, between: Network
) -> None:
    """The row may be there, and nothing was called; an operator finds it and lets it go."""
    between.fault = Fault.HANG
    began = CLOCK.elapsed()
    with deadline.scope(CLOCK, timedelta(seconds=0.5)), pytest.raises(LedgerUnavailable):
        await ledger.reserve(document(), wanted())
    assert CLOCK.elapsed() - began < timedelta(seconds=3)

    held = await direct.read(document())
    await direct.settle_release(document(), held.version)
    assert isinstance(await direct.reserve(document(), wanted()), Reserved)


async def test_an_owner_that_lost_its_ledger_leaves_the_row_in_progress(
    ledger: Ledger, direct: Ledger, between: Network
) -> None:
    taken = await reserved(ledger)
    between.cut()
    with deadline.scope(CLOCK, timedelta(seconds=0.5)), pytest.raises(OutcomeUnknown) as unknown:
        await ledger.complete(taken, OK, ttl=WEEK)

    assert unknown.value.ledger_ref == f"firestore/{COLLECTION}/{document()}"
    assert await direct.reserve(document(), wanted()) == Running(row=taken.row)


@pytest.mark.inv("I1")
async def test_of_64_callers_over_two_instances_one_reserves_and_the_others_wait_or_are_replayed(
    firestore: Database,
) -> None:
    (one, first), (other, second) = opened(firestore), opened(firestore)
    calls: list[str] = []

    async def call(ledger: Ledger, key: str) -> Reserved | Replayed | Running:
        taken = await ledger.reserve(document(key), wanted(settled_from=timedelta(minutes=1)))
        if isinstance(taken, Reserved):
            calls.append(key)
            await ledger.complete(taken, OK, ttl=WEEK)
        return taken

    for key in ("a", "b", "c"):
        taken = await asyncio.gather(*(call(ledger, key) for ledger in (first, second) for _ in range(32)))
        assert len([each for each in taken if isinstance(each, Reserved)]) == 1
        assert isinstance(await call(second, key), Replayed)
    assert calls == ["a", "b", "c"]
    await one.close()
    await other.close()


@pytest.mark.req("R133")
async def test_a_reference_is_where_firestore_itself_has_the_row_and_it_has_no_expiry(
    direct: Ledger, firestore: Database
) -> None:
    taken = await reserved(direct)
    kind, _, path = direct.reference(document()).partition("/")
    assert kind == "firestore"
    url = f"http://{firestore.emulator}/v1/{firestore.name}/documents/{path}"
    async with httpx2.AsyncClient(trust_env=False, headers={"Authorization": "Bearer owner"}) as http:
        before = (await http.get(url)).json()
        await direct.complete(taken, OK, ttl=WEEK)
        after = (await http.get(url)).json()

    assert before["fields"]["status"] == {"stringValue": "in_progress"}
    assert "expires_at" not in before["fields"]
    assert after["fields"]["expires_at"].keys() == {"timestampValue"}
