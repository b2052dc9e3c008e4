"""An operator's verdict when the store's answers do not come, or another operator is faster."""

from datetime import timedelta

import pytest

from services.coordinator.ledger.ledger import Replayed
from services.coordinator.ledger.rows import Completed, Response
from services.kernel.errors import AlreadySettled, Ambiguous, LedgerUnavailable, NotFound, StaleVersion
from tests.unit.coordinator.ledger.fates import AFTER, AWAY, FOREVER, MENDED, Fates
from tests.unit.coordinator.ledger.shelf import OK, WEEK, Shelf, document, wanted

pytestmark = pytest.mark.anyio


@MENDED
async def test_a_verdict_whose_answer_was_lost_is_found_or_written_again(home: Shelf, fates: Fates) -> None:
    taken = await home.reserved()
    home.clock.move(AFTER)
    home.line.commits.extend(fates)

    held = await home.ledger.settle_complete(document(), taken.version, OK, ttl=WEEK)
    assert isinstance(held.value, Completed)
    assert await home.another().reserve(document(), wanted()) == Replayed(row=held.value)


@MENDED
async def test_a_verdict_to_release_whose_answer_was_lost_is_found_or_done_again(home: Shelf, fates: Fates) -> None:
    taken = await home.reserved()
    home.clock.move(AFTER)
    home.line.commits.extend(fates)

    await home.ledger.settle_release(document(), taken.version)
    assert await home.raw() is None


async def test_a_verdict_to_release_that_was_applied_is_done_also_if_the_key_was_used_again(home: Shelf) -> None:
    taken = await home.reserved()
    home.clock.move(AFTER)
    home.line.commits.append("lost")
    home.line.reads.extend(["ok", lambda: home.another().reserve(document(), wanted(amount=13))])

    await home.ledger.settle_release(document(), taken.version)
    assert (await home.another().read(document())).value.fingerprint == wanted(amount=13).fingerprint


async def test_a_verdict_that_is_said_again_after_its_answer_never_came_changes_nothing(home: Shelf) -> None:
    taken = await home.reserved()
    home.clock.move(AFTER)
    home.line.commits.append("lost")
    home.line.reads.extend(["ok", *[AWAY] * FOREVER])
    with pytest.raises(Ambiguous):
        await home.ledger.settle_complete(document(), taken.version, OK, ttl=WEEK)
    before = await home.raw()

    home.clock.move(timedelta(hours=1))
    await home.another().settle_complete(document(), taken.version, OK, ttl=WEEK)
    assert await home.raw() == before
    other = Response(status=200, result_json="null")
    with pytest.raises(StaleVersion):
        await home.another().settle_complete(document(), taken.version, other, ttl=WEEK)


@pytest.mark.parametrize(("commits", "reads"), [([], [AWAY]), ([AWAY], [])], ids=["unread", "unwritten"])
async def test_a_verdict_that_was_not_written_is_said_not_to_be(home: Shelf, commits: Fates, reads: Fates) -> None:
    taken = await home.reserved()
    before = await home.raw()
    home.clock.move(AFTER)
    for verdict in (
        home.ledger.settle_complete(document(), taken.version, OK, ttl=WEEK),
        home.ledger.settle_release(document(), taken.version),
    ):
        home.line.commits.extend(commits)
        home.line.reads.extend(reads)
        with pytest.raises(LedgerUnavailable):
            await verdict
    assert await home.raw() == before


async def test_of_two_operators_who_release_one_row_the_second_released_nothing(home: Shelf) -> None:
    taken = await home.reserved()
    home.clock.move(AFTER)
    home.line.commits.append(lambda: home.another().settle_release(document(), taken.version))

    with pytest.raises(NotFound):
        await home.ledger.settle_release(document(), taken.version)


@pytest.mark.inv("I12")
async def test_of_two_operators_with_two_verdicts_one_is_heard(home: Shelf) -> None:
    taken = await home.reserved()
    home.clock.move(AFTER)
    theirs = Response(status=200, result_json='"theirs"')
    home.line.commits.append(lambda: home.another().settle_complete(document(), taken.version, theirs, ttl=WEEK))

    with pytest.raises(StaleVersion, match="completed"):
        await home.ledger.settle_complete(document(), taken.version, OK, ttl=WEEK)
    replayed = await home.another().reserve(document(), wanted())
    assert isinstance(replayed, Replayed)
    assert replayed.row.result_json == '"theirs"'


async def test_a_settled_row_cannot_be_settled(home: Shelf) -> None:
    await home.ledger.complete(await home.reserved(), OK, ttl=WEEK)
    home.clock.move(AFTER)
    version = (await home.ledger.read(document())).version
    with pytest.raises(AlreadySettled):
        await home.ledger.settle_release(document(), version)
