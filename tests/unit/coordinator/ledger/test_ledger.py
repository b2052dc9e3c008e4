"""The ledger from a caller's side: who goes on, who is replayed, who is stopped, and what is written down."""

import asyncio
from datetime import timedelta

import pytest

from services.coordinator.ledger.ledger import Replayed, Reserved, Running
from services.coordinator.ledger.rows import Response, TooLarge
from services.kernel.errors import IdempotencyKeyReused, LedgerUnavailable, NotFound, OutcomeUnknown
from services.kernel.ports import Create, Ref, Value
from tests.unit.coordinator.ledger.shelf import COLLECTION, MAX_UNTIL, OK, WEEK, Shelf, document, wanted
from tests.unit.kernel.world import NOON

pytestmark = pytest.mark.anyio

MANY = 12
IN_PROGRESS = {
    "schema", "nonce", "status", "fingerprint", "reservation_id", "operation_id", "trace_id", "started_at", "max_until",
}  # fmt: skip
ONCE_COMPLETED = {"completion_id", "response_status", "result_json", "result_bytes", "expires_at"}


async def test_who_comes_first_reserves_and_who_asks_the_same_meanwhile_is_stopped(home: Shelf) -> None:
    taken = await home.ledger.reserve(document(), wanted())
    assert isinstance(taken, Reserved)
    assert (taken.row.started_at, taken.row.max_until) == (NOON, MAX_UNTIL)

    assert await home.another().reserve(document(), wanted()) == Running(row=taken.row)


@pytest.mark.req("R95")
@pytest.mark.inv("I3")
async def test_a_row_in_progress_has_no_expiry_not_even_an_empty_one(home: Shelf) -> None:
    await home.reserved()
    raw = await home.raw()
    assert raw is not None
    assert set(raw) == IN_PROGRESS
    assert raw["status"] == "in_progress"


async def test_a_completed_row_has_its_expiry_and_its_result_besides(home: Shelf) -> None:
    await home.ledger.complete(await home.reserved(), OK, ttl=WEEK)
    raw = await home.raw()
    assert raw is not None
    assert set(raw) == IN_PROGRESS | ONCE_COMPLETED
    assert (raw["status"], raw["expires_at"], raw["result_bytes"]) == ("completed", NOON + WEEK, 19)


@pytest.mark.inv("I5")
async def test_neither_the_key_nor_the_caller_is_in_what_is_written(home: Shelf) -> None:
    await home.ledger.reserve(document("planted-key"), wanted(principal="planted@example.com"))
    (snapshot,) = await home.store.get([Ref(COLLECTION, document("planted-key"))])
    assert snapshot is not None
    assert "planted" not in repr(snapshot)


@pytest.mark.req("R105")
@pytest.mark.inv("I13")
async def test_the_same_request_gets_the_answer_that_was_kept(home: Shelf) -> None:
    done = await home.ledger.complete(await home.reserved(), OK, ttl=WEEK)

    for _ in range(2):
        assert await home.another().reserve(document(), wanted()) == Replayed(row=done)
    assert (done.response_status, done.result_json) == (201, '{"invoice":"inv_1"}')


@pytest.mark.req("R99")
@pytest.mark.inv("I6")
@pytest.mark.parametrize("completed", [False, True], ids=["running", "completed"])
async def test_two_callers_with_one_key_meet_in_one_row_and_the_second_learns_nothing(
    home: Shelf, completed: bool
) -> None:
    """Everyone will want to "fix" this by a row for each caller. It must stay as it is.

    A key means one effect, whoever asks for it. With the caller in the row's name, two people who retry one order under
    one key would each find a free place, and the other system would be hit twice. So they meet, and the second is
    refused before any call; since who asks is part of what is asked, it never gets the first one's result either.
    """
    ada = await home.ledger.reserve(document(), wanted(principal="ada@example.com"))
    assert isinstance(ada, Reserved)
    if completed:
        await home.ledger.complete(ada, OK, ttl=WEEK)
    before = await home.raw()

    with pytest.raises(IdempotencyKeyReused) as refused:
        await home.another().reserve(document(), wanted(principal="grace@example.com"))
    said = f"{refused.value} {refused.value.detail} {refused.value.fields} {refused.value.ledger_ref}"
    assert not any(told in said for told in ("inv_1", "ada", "201", document()))
    assert await home.raw() == before


@pytest.mark.req("R101")
@pytest.mark.inv("I1")
async def test_of_many_at_once_exactly_one_reserves(home: Shelf) -> None:
    ledgers = [home.another() for _ in range(MANY)]
    taken = await asyncio.gather(*(ledger.reserve(document(), wanted()) for ledger in ledgers))

    (winner,) = [each for each in taken if isinstance(each, Reserved)]
    assert [each for each in taken if each is not winner] == [Running(row=winner.row)] * (MANY - 1)


@pytest.mark.req("R108")
@pytest.mark.inv("I4")
async def test_of_many_at_once_exactly_one_takes_over_a_row_that_expired_and_was_not_deleted(home: Shelf) -> None:
    await home.ledger.complete(await home.reserved(), OK, ttl=WEEK)
    home.clock.move(WEEK)
    assert (await home.raw()) is not None

    ledgers = [home.another() for _ in range(MANY)]
    taken = await asyncio.gather(*(ledger.reserve(document(), wanted(amount=13)) for ledger in ledgers))
    (winner,) = [each for each in taken if isinstance(each, Reserved)]
    assert [each for each in taken if each is not winner] == [Running(row=winner.row)] * (MANY - 1)
    raw = await home.raw()
    assert raw is not None
    assert set(raw) == IN_PROGRESS


@pytest.mark.req("R107")
async def test_an_answer_is_replayed_as_long_as_was_said_and_no_longer(home: Shelf) -> None:
    await home.ledger.complete(await home.reserved(), OK, ttl=timedelta(minutes=1))

    home.clock.move(timedelta(seconds=59))
    assert isinstance(await home.ledger.reserve(document(), wanted()), Replayed)
    home.clock.move(timedelta(seconds=1))
    assert isinstance(await home.ledger.reserve(document(), wanted()), Reserved)


@pytest.mark.inv("I3")
async def test_ten_years_do_not_free_a_row_in_progress(home: Shelf) -> None:
    taken = await home.reserved()
    home.clock.move(timedelta(days=3650))

    assert await home.ledger.reserve(document(), wanted()) == Running(row=taken.row)


async def test_a_key_is_free_again_once_it_is_released(home: Shelf) -> None:
    first = await home.reserved()
    await home.ledger.release(first)
    assert await home.raw() is None

    second = await home.ledger.reserve(document(), wanted(amount=13))
    assert isinstance(second, Reserved)
    assert second.row.reservation_id != first.row.reservation_id


@pytest.mark.req("R110")
@pytest.mark.inv("I9")
async def test_a_result_that_is_too_large_leaves_the_row_as_it_is(home: Shelf) -> None:
    taken = await home.reserved()
    before = await home.raw()
    with pytest.raises(TooLarge):
        await home.ledger.complete(taken, Response(status=200, result_json=f'"{"a" * 819_199}"'), ttl=WEEK)

    assert await home.raw() == before
    assert await home.ledger.reserve(document(), wanted()) == Running(row=taken.row)


@pytest.mark.parametrize("letter", ["a", "é", "🧾"], ids=["one byte", "two", "four"])
async def test_the_largest_result_is_stored_and_replayed_whole(home: Shelf, letter: str) -> None:
    size = len(letter.encode())
    text = '"' + letter * (819_198 // size) + "a" * (819_198 % size) + '"'
    await home.ledger.complete(await home.reserved(), Response(status=200, result_json=text), ttl=WEEK)

    replayed = await home.another().reserve(document(), wanted())
    assert isinstance(replayed, Replayed)
    assert replayed.row.result_json == text
    assert (await home.ledger.show(document())).result_bytes == 819_200


@pytest.mark.req("R102")
@pytest.mark.inv("I2")
async def test_an_owner_that_comes_back_after_a_verdict_completes_nothing(home: Shelf) -> None:
    """It was released as never having acted, and somebody else has the key now."""
    zombie = await home.reserved()
    home.clock.move(timedelta(hours=1))
    await home.another().settle_release(document(), zombie.version)
    successor = await home.another().reserve(document(), wanted())
    assert isinstance(successor, Reserved)
    before = await home.raw()

    with pytest.raises(OutcomeUnknown) as unknown:
        await home.ledger.complete(zombie, OK, ttl=WEEK)
    assert unknown.value.ledger_ref == f"firestore/{COLLECTION}/{document()}"
    assert await home.raw() == before


@pytest.mark.req("R103")
@pytest.mark.inv("I2")
async def test_an_owner_that_comes_back_after_a_verdict_releases_nothing(home: Shelf) -> None:
    zombie = await home.reserved()
    home.clock.move(timedelta(hours=1))
    await home.another().settle_release(document(), zombie.version)
    await home.another().reserve(document(), wanted())
    before = await home.raw()

    await home.ledger.release(zombie)
    assert await home.raw() == before


async def test_an_owner_that_comes_back_after_a_verdict_that_it_acted_leaves_that_answer(home: Shelf) -> None:
    zombie = await home.reserved()
    home.clock.move(timedelta(hours=1))
    await home.another().settle_complete(document(), zombie.version, OK, ttl=WEEK)
    before = await home.raw()

    for act in (
        home.ledger.complete(zombie, Response(status=200, result_json="null"), ttl=WEEK),
        home.ledger.release(zombie),
    ):
        with pytest.raises(OutcomeUnknown):
            await act
    assert await home.raw() == before


async def test_a_row_that_this_release_does_not_know_is_not_gone_past(home: Shelf) -> None:
    unknown: dict[str, Value] = {"schema": 2, "nonce": "n", "status": "in_progress"}
    await home.store.commit([Create(Ref(COLLECTION, document()), unknown)])

    with pytest.raises(LedgerUnavailable):
        await home.ledger.reserve(document(), wanted())
    assert await home.raw() == unknown


@pytest.mark.parametrize("name", ["0" * 64, "no such row", "__proto__", "", "A" * 64])
async def test_a_row_that_is_not_there_is_not_found_whatever_it_is_called(home: Shelf, name: str) -> None:
    for ask in (home.ledger.read, home.ledger.show):
        with pytest.raises(NotFound):
            await ask(name)
