"""Whatever upserts of a run reach its row, in whatever order and however often, the row ends as the run did."""

from dataclasses import dataclass, replace
from datetime import timedelta
from functools import reduce
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from services.coordinator.records.row import Row
from services.coordinator.rules import index
from services.kernel.runs import Status
from tests.unit.coordinator.builders import SHA, run

LIVES = [
    "queued canceled",
    "queued failed",
    "queued starting failed",
    "queued starting running passed",
    "queued starting running failed",
    "queued starting cancel_requested canceled",
    "queued starting cancel_requested failed",
    "queued starting running cancel_requested canceled",
    "queued starting running cancel_requested canceling canceled",
    "queued starting running cancel_requested canceling failed",
]
"""Every way through the moves of a run."""


@dataclass(frozen=True, slots=True)
class Life:
    """A run's rows as it went on, and the order in which upserts of them came; the last one came at least once."""

    rows: tuple[Row, ...]
    upserts: tuple[Row, ...]

    def stored(self) -> list[Row]:
        """What the index held after each upsert."""
        first, *others = self.upserts
        return reduce(lambda held, upsert: [*held, index.merge(held[-1], upsert)], others, [index.merge(None, first)])


@st.composite
def lives(draw: st.DrawFn) -> Life:
    statuses = [Status(name) for name in draw(st.sampled_from(LIVES)).split()]
    known_from = draw(st.integers(0, len(statuses)))
    rows = tuple(_row(status, known=place >= known_from) for place, status in enumerate(statuses))
    upserts = draw(st.lists(st.sampled_from(rows), max_size=12))
    upserts.insert(draw(st.integers(0, len(upserts))), rows[-1])
    return Life(rows, tuple(upserts))


def _row(status: Status, *, known: bool) -> Row:
    row = index.truth(run(1, status), keep=timedelta(days=400))
    return replace(row, commit_sha=SHA if known else None, exit_code=0 if status is Status.PASSED else None)


@pytest.mark.req("R37")
@pytest.mark.inv("Y5")
@settings(deadline=None)
@given(lives())
def test_every_order_of_upserts_ends_in_the_same_row(life: Life) -> None:
    assert life.stored()[-1] == life.rows[-1]


@settings(deadline=None)
@given(lives())
def test_on_the_way_no_sha_is_lost_and_no_end_undone(life: Life) -> None:
    for before, after in pairwise(life.stored()):
        assert before.commit_sha in (None, after.commit_sha)
        if before.status.terminal:
            assert replace(after, commit_sha=None) == replace(before, commit_sha=None)


@settings(deadline=None)
@given(lives())
def test_repeating_an_upsert_changes_nothing(life: Life) -> None:
    for stored, upsert in zip(life.stored(), life.upserts, strict=True):
        assert index.merge(stored, upsert) == stored
