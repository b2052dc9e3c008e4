"""No answer is missed and none is made up: what becomes of a row when the store's answers do not come."""

from collections.abc import Awaitable, Callable
from datetime import timedelta

import pytest

from services.coordinator.ledger.ledger import PATIENCE, Replayed, Reserved, Running
from services.kernel.errors import (
    IdempotencyKeyReused,
    LedgerUnavailable,
    OutcomeUnknown,
    Transient,
    Unavailable,
)
from services.kernel.ports import Create, Ref, Replace
from tests.unit.coordinator.ledger.fates import AFTER, AWAY, FOREVER, LOCKED, MENDED, Fates
from tests.unit.coordinator.ledger.shelf import COLLECTION, OK, WEEK, Shelf, document, wanted

pytestmark = pytest.mark.anyio

REFERENCE = f"firestore/{COLLECTION}/{document()}"


async def expired(home: Shelf) -> None:
    """A completed row is there, as good as absent."""
    await home.ledger.complete(await home.reserved(), OK, ttl=timedelta(minutes=1))
    home.clock.move(timedelta(minutes=1))


async def absent(home: Shelf) -> None:
    return


async def tries_of_a_reservation(home: Shelf) -> int:
    """How often patience lets one reservation be read back, when nothing answers; one more read is to take it back."""
    home.line.commits.append("dropped")
    home.line.reads.extend([AWAY] * FOREVER)
    with pytest.raises(LedgerUnavailable):
        await home.ledger.reserve(document("another"), wanted())
    tries = FOREVER - len(home.line.reads) - 1
    home.line.reads.clear()
    return tries


@MENDED
@pytest.mark.parametrize("before", [absent, expired])
@pytest.mark.inv("I15")
async def test_a_reservation_whose_answer_was_lost_is_found_to_be_ones_own(
    home: Shelf, fates: Fates, before: Callable[[Shelf], Awaitable[None]]
) -> None:
    await before(home)
    home.line.commits.extend(fates)

    taken = await home.ledger.reserve(document(), wanted())
    assert isinstance(taken, Reserved)
    done = await home.ledger.complete(taken, OK, ttl=WEEK)
    assert await home.another().reserve(document(), wanted()) == Replayed(row=done)


@pytest.mark.parametrize("winner", ["same request", "other request"])
async def test_a_reservation_that_lost_both_its_answer_and_the_race_is_not_ones_own(home: Shelf, winner: str) -> None:
    theirs = wanted() if winner == "same request" else wanted(amount=13)
    home.line.commits.append("dropped")
    home.line.reads.append(lambda: home.another().reserve(document(), theirs))

    if winner == "same request":
        assert isinstance(await home.ledger.reserve(document(), wanted()), Running)
    else:
        with pytest.raises(IdempotencyKeyReused):
            await home.ledger.reserve(document(), wanted())
    assert (await home.another().read(document())).value.fingerprint == theirs.fingerprint


@pytest.mark.parametrize("fate", [AWAY, Unavailable("the deadline has passed")])
async def test_a_ledger_that_is_away_is_said_to_be_at_once_and_nothing_is_left(home: Shelf, fate: Transient) -> None:
    home.line.commits.append(fate)
    began = home.clock.elapsed()
    with pytest.raises(LedgerUnavailable) as away:
        await home.ledger.reserve(document(), wanted())

    assert (away.value.retryable, home.clock.elapsed()) == (True, began)
    assert await home.raw() is None


async def test_a_row_that_is_there_and_cannot_be_read_is_a_ledger_that_is_away(home: Shelf) -> None:
    await home.reserved()
    home.line.reads.append(AWAY)
    with pytest.raises(LedgerUnavailable):
        await home.ledger.reserve(document(), wanted())


@pytest.mark.inv("I11")
async def test_a_reservation_that_cannot_be_proven_is_refused_and_taken_back(home: Shelf) -> None:
    """The row was written, and nothing answers until patience ends; then it can be deleted again."""
    tries = await tries_of_a_reservation(home)
    home.line.commits.append("lost")
    home.line.reads.extend([AWAY] * tries)
    with pytest.raises(LedgerUnavailable, match="nothing was called"):
        await home.ledger.reserve(document(), wanted())

    assert await home.raw() is None


async def test_a_reservation_that_can_neither_be_proven_nor_taken_back_stays_for_an_operator(home: Shelf) -> None:
    home.line.commits.append("lost")
    home.line.reads.extend([AWAY] * FOREVER)
    with pytest.raises(LedgerUnavailable):
        await home.ledger.reserve(document(), wanted())

    held = await home.another().read(document())
    home.clock.move(AFTER)
    await home.another().settle_release(document(), held.version)
    assert await home.raw() is None


async def test_what_is_taken_back_is_not_what_somebody_else_has_reserved_since(home: Shelf) -> None:
    tries = await tries_of_a_reservation(home)
    home.line.commits.append("dropped")
    home.line.reads.extend([*[AWAY] * tries, lambda: home.another().reserve(document(), wanted())])
    with pytest.raises(LedgerUnavailable):
        await home.ledger.reserve(document(), wanted())

    assert await home.raw() is not None


@MENDED
async def test_a_completion_whose_answer_was_lost_is_found_or_written_again(home: Shelf, fates: Fates) -> None:
    taken = await home.reserved()
    home.line.commits.extend(fates)

    done = await home.ledger.complete(taken, OK, ttl=WEEK)
    assert await home.another().reserve(document(), wanted()) == Replayed(row=done)


async def test_a_completion_waits_for_a_ledger_that_is_away_for_a_moment(home: Shelf) -> None:
    taken = await home.reserved()
    home.line.commits.extend([AWAY] * 5)
    home.line.reads.extend([AWAY] * 3)

    await home.ledger.complete(taken, OK, ttl=WEEK)
    assert isinstance(await home.another().reserve(document(), wanted()), Replayed)


@pytest.mark.parametrize(
    ("commits", "reads"),
    [([AWAY] * FOREVER, []), (["dropped"] * FOREVER, []), (["lost"], [AWAY] * FOREVER), ([LOCKED] * FOREVER, [])],
    ids=["away", "dropped", "written and unread", "locked"],
)
@pytest.mark.req("R131")
@pytest.mark.inv("I8")
async def test_a_completion_that_cannot_be_proven_is_an_unknown_outcome_and_the_row_is_not_released(
    home: Shelf, commits: Fates, reads: Fates
) -> None:
    taken = await home.reserved()
    home.line.commits.extend(commits)
    home.line.reads.extend(reads)
    began = home.clock.elapsed()
    with pytest.raises(OutcomeUnknown) as unknown:
        await home.ledger.complete(taken, OK, ttl=WEEK)

    assert (unknown.value.ledger_ref, unknown.value.retryable) == (REFERENCE, False)
    assert PATIENCE <= home.clock.elapsed() - began < PATIENCE + timedelta(seconds=2)
    found = await home.another().reserve(document(), wanted())
    assert isinstance(found, Running | Replayed)
    assert found.row.reservation_id == taken.row.reservation_id


@MENDED
async def test_a_release_whose_answer_was_lost_is_found_or_done_again(home: Shelf, fates: Fates) -> None:
    taken = await home.reserved()
    home.line.commits.extend(fates)

    await home.ledger.release(taken)
    assert await home.raw() is None


async def test_a_release_whose_answer_was_lost_leaves_the_row_of_whoever_reserved_next(home: Shelf) -> None:
    taken = await home.reserved()
    home.line.commits.append("lost")
    home.line.reads.append(lambda: home.another().reserve(document(), wanted(amount=13)))
    await home.ledger.release(taken)

    assert (await home.another().read(document())).value.fingerprint == wanted(amount=13).fingerprint


async def test_a_release_that_cannot_be_proven_is_an_unknown_outcome(home: Shelf) -> None:
    taken = await home.reserved()
    home.line.commits.extend([AWAY] * FOREVER)
    with pytest.raises(OutcomeUnknown) as unknown:
        await home.ledger.release(taken)

    assert unknown.value.ledger_ref == REFERENCE
    assert await home.another().reserve(document(), wanted()) == Running(row=taken.row)


async def test_an_owner_that_completes_while_an_operator_releases_is_one_or_the_other(home: Shelf) -> None:
    """The clock of the operator's side is past `max_until`, and yet the owner is there."""
    taken = await home.reserved()
    home.clock.move(AFTER)
    home.line.commits.append(lambda: home.another().settle_release(document(), taken.version))

    with pytest.raises(OutcomeUnknown):
        await home.ledger.complete(taken, OK, ttl=WEEK)
    assert await home.raw() is None


async def test_every_write_names_what_it_expects(home: Shelf) -> None:
    """A row is created where there is none, and replaced or deleted at the version that was seen."""
    taken = await home.reserved()
    await home.ledger.complete(taken, OK, ttl=WEEK)
    create, replace = (writes[0] for writes in home.line.tried)
    assert isinstance(create, Create)
    assert isinstance(replace, Replace)
    assert create.ref == replace.ref == Ref(COLLECTION, document())
    assert replace.if_version == taken.version
