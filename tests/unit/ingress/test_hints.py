"""What a person reads in the Git host's delivery view."""

from datetime import UTC, datetime

import pytest

from services.ingress.hints import hint
from services.kernel.wire.deliveries import DeliveryAnswer, Note, Outcome

RUN = "run_0000000000000000000001"


def said(outcome: Outcome, *, note: Note | None = None, duplicate: bool = False) -> str:
    answer = DeliveryAnswer(
        outcome=outcome,
        note=note,
        duplicate=duplicate,
        run_id=RUN if outcome is Outcome.ACCEPTED else None,
        first_seen_at=datetime(2026, 11, 30, tzinfo=UTC),
    )
    return hint(answer, project="site")


def test_an_accepted_push_names_the_command_that_follows_its_run() -> None:
    assert f"`anvil run watch {RUN}`" in said(Outcome.ACCEPTED)


def test_a_ping_says_that_the_webhook_works() -> None:
    assert "The webhook works" in said(Outcome.IGNORED_PING)


def test_another_branch_names_the_command_that_runs_one() -> None:
    assert "`anvil run start --project site --branch BRANCH`" in said(Outcome.IGNORED_BRANCH)


def test_a_commit_that_asked_for_no_run_is_told_so() -> None:
    assert "the commit's message asks for no run" in said(Outcome.IGNORED_EVENT, note=Note.SKIP_CI)


@pytest.mark.parametrize("outcome", list(Outcome))
def test_every_replay_says_so_and_names_a_command_that_runs_again(outcome: Outcome) -> None:
    text = said(outcome, duplicate=True)
    again = f"`anvil run rerun {RUN}`" if outcome is Outcome.ACCEPTED else "`anvil run start --project site`"
    assert "a redelivery replays the stored outcome" in text
    assert again in text
