"""The statuses of a run and the moves between them, written out once more by hand."""

from itertools import product

import pytest

from services.kernel.runs import IllegalMove, Status, move

ALLOWED = {
    ("queued", "starting"),
    ("queued", "canceled"),
    ("queued", "failed"),
    ("starting", "running"),
    ("starting", "cancel_requested"),
    ("starting", "failed"),
    ("running", "passed"),
    ("running", "failed"),
    ("running", "cancel_requested"),
    ("cancel_requested", "canceling"),
    ("cancel_requested", "canceled"),
    ("cancel_requested", "failed"),
    ("canceling", "canceled"),
    ("canceling", "failed"),
}


@pytest.mark.req("R6")
def test_there_are_exactly_eight_public_statuses() -> None:
    assert [status.value for status in Status] == [
        "queued",
        "starting",
        "running",
        "cancel_requested",
        "canceling",
        "passed",
        "failed",
        "canceled",
    ]


@pytest.mark.inv("S2")
@pytest.mark.parametrize(("current", "to"), list(product(Status, Status)))
def test_a_run_moves_along_the_table_and_nowhere_else(current: Status, to: Status) -> None:
    if (current.value, to.value) in ALLOWED:
        assert move(current, to) is to
    else:
        with pytest.raises(IllegalMove):
            move(current, to)


def test_the_ends_are_terminal_and_nothing_else_is() -> None:
    assert {status.value for status in Status if status.terminal} == {"passed", "failed", "canceled"}


def test_an_attempt_owns_a_run_from_its_claim_to_its_end() -> None:
    assert {status.value for status in Status if status.active} == {
        "starting",
        "running",
        "cancel_requested",
        "canceling",
    }
