"""What only a store behind a network has: answers that are lost, late, or cannot come."""

import socket
from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import timedelta

import pytest

from services.kernel import deadline
from services.kernel.adapters.clock import SystemClock
from services.kernel.adapters.firestore import FirestoreStore
from services.kernel.adapters.firestore_database import Database
from services.kernel.errors import Ambiguous, PreconditionFailed, Unavailable
from services.kernel.ports import Create, Delete, Query, Replace, Store, Version, Write
from tests.contract.stores import INDEXES, content, document, read, thing
from tests.emulator.network import Fault, Network, network

pytestmark = [pytest.mark.anyio, pytest.mark.usefixtures("one_event_loop")]

CLOCK = SystemClock()
LIMIT = timedelta(seconds=2)
SLACK = timedelta(seconds=1)
"""For a machine that does other things too."""


def opened(database: Database) -> FirestoreStore:
    return FirestoreStore(database, namespace="test", indexes=INDEXES, clock=CLOCK)


@pytest.fixture
async def between(firestore: Database) -> AsyncIterator[Network]:
    assert firestore.emulator is not None
    async with network(firestore.emulator) as carrying:
        yield carrying


@pytest.fixture
async def store(firestore: Database, between: Network) -> AsyncIterator[Store]:
    """Behind the network, and connected."""
    store = opened(replace(firestore, emulator=between.address))
    await store.get([thing("a")])
    yield store
    await store.close()


@pytest.fixture
async def direct(firestore: Database) -> AsyncIterator[Store]:
    """The same database, without the network."""
    store = opened(firestore)
    yield store
    await store.close()


async def existing(store: Store) -> Version:
    (version,) = await store.commit([Create(thing("a"), document(n=1))])
    return version


async def test_a_creation_whose_answer_was_cut_off_is_ambiguous_and_there(
    store: Store, direct: Store, between: Network
) -> None:
    between.fault = Fault.CUT_ANSWER
    with pytest.raises(Ambiguous):
        await store.commit([Create(thing("a"), document(n=1))])

    assert content((await read(direct, thing("a"))).data) == {"n": 1}
    assert between.cuts == 1


async def test_a_replacement_whose_answer_was_cut_off_is_ambiguous_and_there(
    store: Store, direct: Store, between: Network
) -> None:
    version = await existing(store)
    between.fault = Fault.CUT_ANSWER
    with pytest.raises(Ambiguous):
        await store.commit([Replace(thing("a"), document(n=2), version)])

    assert content((await read(direct, thing("a"))).data) == {"n": 2}
    assert between.cuts == 1


async def test_a_deletion_whose_answer_was_cut_off_is_ambiguous_and_done(
    store: Store, direct: Store, between: Network
) -> None:
    version = await existing(store)
    between.fault = Fault.CUT_ANSWER
    with pytest.raises(Ambiguous):
        await store.commit([Delete(thing("a"), version)])

    assert await direct.get([thing("a")]) == [None]
    assert between.cuts == 1


async def test_who_reads_back_after_an_ambiguous_answer_finds_its_own_write(store: Store, between: Network) -> None:
    between.fault = Fault.CUT_ANSWER
    written = document(n=1)
    with pytest.raises(Ambiguous):
        await store.commit([Create(thing("a"), written)])
    between.fault = Fault.NONE

    assert (await read(store, thing("a"))).data == written


async def test_a_write_whose_answer_does_not_come_is_ambiguous_after_two_seconds(
    store: Store, direct: Store, between: Network
) -> None:
    between.fault = Fault.HANG
    began = CLOCK.elapsed()
    with pytest.raises(Ambiguous):
        await store.commit([Create(thing("a"), document(n=1))])

    assert LIMIT <= CLOCK.elapsed() - began < LIMIT + SLACK
    assert content((await read(direct, thing("a"))).data) == {"n": 1}


@pytest.mark.parametrize("operation", ["read", "query"])
async def test_a_read_whose_answer_does_not_come_is_unavailable_after_two_seconds(
    store: Store, between: Network, operation: str
) -> None:
    between.fault = Fault.HANG
    began = CLOCK.elapsed()
    with pytest.raises(Unavailable):
        await _asked(store, operation)

    assert LIMIT <= CLOCK.elapsed() - began < LIMIT + SLACK


@pytest.mark.parametrize("operation", ["read", "query"])
async def test_a_read_whose_answers_are_cut_off_is_tried_again_and_then_unavailable(
    store: Store, between: Network, operation: str
) -> None:
    between.fault = Fault.CUT_ANSWER
    with pytest.raises(Unavailable):
        await _asked(store, operation)
    assert between.cuts > 1

    between.fault = Fault.NONE
    await _asked(store, operation)


async def test_no_call_takes_longer_than_what_the_request_has_left(store: Store, between: Network) -> None:
    between.fault = Fault.HANG
    left = timedelta(seconds=0.2)
    began = CLOCK.elapsed()
    with deadline.scope(CLOCK, left), pytest.raises(Ambiguous):
        await store.commit([Create(thing("a"), document())])
    with deadline.scope(CLOCK, left), pytest.raises(Unavailable):
        await store.get([thing("a")])

    assert CLOCK.elapsed() - began < LIMIT


async def test_nothing_is_sent_when_no_time_is_left(store: Store) -> None:
    with deadline.scope(CLOCK, timedelta()):
        with pytest.raises(Unavailable):
            await store.commit([Create(thing("a"), document())])
        with pytest.raises(Unavailable):
            await store.get([thing("a")])

    assert await store.get([thing("a")]) == [None]


@pytest.mark.parametrize("operation", ["read", "query", "commit"])
async def test_a_database_that_nobody_serves_is_unavailable_at_once(firestore: Database, operation: str) -> None:
    with socket.socket() as bound:
        bound.bind(("127.0.0.1", 0))
        store = opened(replace(firestore, emulator=f"127.0.0.1:{bound.getsockname()[1]}"))
        began = CLOCK.elapsed()
        with pytest.raises(Unavailable):
            await _asked(store, operation)
        await store.close()

    assert CLOCK.elapsed() - began < timedelta(seconds=1)


async def test_a_database_that_comes_back_is_found_within_two_seconds(store: Store, between: Network) -> None:
    between.fault = Fault.CUT_ANSWER
    with pytest.raises(Unavailable):
        await store.get([thing("a")])
    between.fault = Fault.NONE
    began = CLOCK.elapsed()

    assert await store.get([thing("a")]) == [None]
    await existing(store)
    assert CLOCK.elapsed() - began < LIMIT + SLACK


async def test_a_version_that_firestore_never_gave_matches_nothing(store: Store) -> None:
    await existing(store)
    foreign: list[Write] = [Replace(thing("a"), document(), Version("1")), Delete(thing("a"), Version("1796046857"))]
    for write in foreign:
        with pytest.raises(PreconditionFailed):
            await store.commit([write])


async def test_databases_of_one_project_do_not_see_each_other(firestore: Database, direct: Store) -> None:
    named = opened(replace(firestore, id="ledger"))
    await named.commit([Create(thing("a"), document(n=1))])
    await named.close()

    assert await direct.get([thing("a")]) == [None]


async def test_a_store_that_was_closed_can_be_used_again(direct: Store, firestore: Database) -> None:
    store = opened(firestore)
    await existing(store)
    await store.close()
    await store.close()

    assert (await read(store, thing("a"))).data["n"] == 1
    await store.close()


async def _asked(store: Store, operation: str) -> object:
    match operation:
        case "read":
            return await store.get([thing("a"), thing("b")])
        case "query":
            return await store.query(Query(collection="things"))
        case _:
            return await store.commit([Create(thing("a"), document())])
