"""A lease counts from what was sent, not from what came back."""

from datetime import timedelta

from services.runner.lease import Lease

S = timedelta(seconds=1)


def test_a_lease_runs_from_the_sending_of_what_was_accepted() -> None:
    lease = Lease(30 * S, sent_at=100 * S)
    assert lease.left(100 * S) == 30 * S
    lease.renew(sent_at=110 * S)
    assert lease.left(125 * S) == 15 * S


def test_an_answer_to_an_older_message_takes_nothing_away() -> None:
    lease = Lease(30 * S, sent_at=100 * S)
    lease.renew(sent_at=120 * S)
    lease.renew(sent_at=110 * S)
    assert lease.left(120 * S) == 30 * S


def test_nothing_is_left_of_a_lease_that_ran_out() -> None:
    assert Lease(30 * S, sent_at=100 * S).left(131 * S) == 0 * S
