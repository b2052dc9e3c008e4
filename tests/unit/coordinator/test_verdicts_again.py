"""Verdicts that meet others, that are asked again, and whose answers were lost."""

import asyncio
from datetime import timedelta

import pytest

from services.kernel.errors import AttemptRunning, StaleVersion
from tests.unit.coordinator.book import LONGEST, VERDICTS, Book
from tests.unit.coordinator.driver import ADA

pytestmark = pytest.mark.anyio


@pytest.mark.parametrize("verdict", VERDICTS)
@pytest.mark.parametrize("drops", [False, True], ids=["applied", "not applied"])
async def test_a_verdict_whose_write_got_no_answer_is_settled_all_the_same(
    book: Book, verdict: str, drops: bool
) -> None:
    version = await book.unknown()
    book.rows.forget()
    book.rows.loses, book.rows.drops = 0, drops
    await VERDICTS[verdict](book, version)

    assert [outcome for _, outcome, _ in await book.history()] == ["done"]


async def test_a_completion_that_is_asked_again_finds_itself_applied(book: Book) -> None:
    version = await book.unknown()
    first = await book.complete(version, {"id": 1}, act=1)
    again = await book.complete(version, {"id": 1}, act=1)

    assert again == first
    assert await book.history() == [("ledger.complete", "done", None)]


async def test_a_release_that_is_asked_again_finds_itself_applied_also_when_the_key_is_in_use_again(
    book: Book,
) -> None:
    version = await book.unknown()
    first = await book.release(version, act=1)
    await book.reserve()
    again = await book.release(version, act=1)

    assert again == first
    assert await book.history() == [("ledger.release", "done", None)]
    assert len(await book.listed()) == 1


async def test_a_release_that_was_cut_off_before_its_outcome_was_written_is_its_own(book: Book) -> None:
    version = await book.unknown()
    book.anvil.instance.store.forget()

    async def no_outcome() -> None:
        book.anvil.instance.store.away = True

    book.rows.meanwhile = no_outcome
    await book.release(version, act=1)
    book.anvil.instance.store.away = False
    assert await book.history() == [("ledger.release", None, None)]

    with pytest.raises(StaleVersion, match="released"):
        await book.release(version, act=2)
    await book.release(version, act=1)
    assert await book.history() == [("ledger.release", "refused", "stale_version"), ("ledger.release", "done", None)]


async def test_a_release_that_is_asked_again_while_its_first_try_goes_on_is_done_and_told_so(book: Book) -> None:
    version = await book.unknown()

    async def again() -> None:
        await book.release(version, act=1)

    book.rows.meanwhile = again
    await book.release(version, act=1)

    assert await book.history() == [("ledger.release", "done", None)]


async def test_a_release_that_is_asked_again_when_the_key_is_in_use_again_is_told_that_it_was_done(book: Book) -> None:
    version = await book.unknown()

    async def again() -> None:
        await book.release(version, act=1)
        book.anvil.instance.clock.move(timedelta(seconds=1))
        await book.reserve()

    book.rows.meanwhile = again
    await book.release(version, act=1)

    assert await book.history() == [("ledger.release", "done", None)]
    assert len(await book.listed()) == 1


async def test_an_earlier_release_is_not_taken_for_this_one(book: Book) -> None:
    await book.release(await book.unknown(), act=1)
    book.anvil.instance.clock.move(timedelta(seconds=1))
    version = await book.unknown()

    async def again() -> None:
        await book.release(version, act=2)

    book.rows.meanwhile = again
    await book.release(version, act=2)

    assert await book.history() == [("ledger.release", "done", None), ("ledger.release", "done", None)]


async def test_an_act_that_was_refused_may_be_done_when_it_is_asked_again(book: Book) -> None:
    reserved = await book.reserve()
    with pytest.raises(AttemptRunning):
        await book.release(reserved.version, act=1)
    book.anvil.instance.clock.move(LONGEST * 2)
    await book.release(reserved.version, act=1)

    assert await book.history() == [("ledger.release", "done", None)]


async def test_of_operators_at_once_one_settles_it(book: Book) -> None:
    version = await book.unknown()
    tried = [book.release(version), book.complete(version, {"id": 1}), book.complete(version, {"id": 2})]
    ended = await asyncio.gather(*tried, return_exceptions=True)

    assert sum(not isinstance(each, BaseException) for each in ended) == 1
    assert sorted(outcome or "none" for _, outcome, _ in await book.history()).count("done") == 1


@pytest.mark.parametrize("first", VERDICTS)
@pytest.mark.parametrize("second", VERDICTS)
async def test_of_two_operators_the_second_is_told_what_the_first_did(book: Book, first: str, second: str) -> None:
    version = await book.unknown()
    await VERDICTS[first](book, version)
    if (first, second) == ("it happened", "it happened"):
        await VERDICTS[second](book, version)
        return
    said = {"it happened": "the row is completed at version", "it did not": f"released at .* by {ADA}"}[first]
    with pytest.raises(StaleVersion, match=said):
        await VERDICTS[second](book, version)
