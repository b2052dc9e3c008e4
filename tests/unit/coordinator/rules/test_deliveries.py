"""What becomes of a verified delivery."""

from dataclasses import replace
from datetime import timedelta

import pytest

from services.coordinator.records.delivery import Delivery
from services.coordinator.records.project import Project
from services.coordinator.records.run import IndexSync, Timers
from services.coordinator.rules import deliveries, queue
from services.coordinator.rules.deliveries import Recorded
from services.kernel.errors import InvalidPayload, RepositoryMismatch, StaleVerification
from services.kernel.runs import Kind, Status, Trigger
from services.kernel.wire.deliveries import AcceptDelivery, Canonical, EventKind, Note, Outcome, Provider
from tests.unit.coordinator.builders import (
    EARLIER,
    NOW,
    NUMBERS,
    OTHER_SHA,
    SHA,
    active,
    canonical,
    command,
    delivery,
    entry,
    executable,
    project,
    ref_event,
    run_id,
    webhook,
)

FULL = project(*(entry(number) for number in range(1, 21)), active=active(99))
FINAL = (Outcome.ACCEPTED, Outcome.IGNORED_PING, Outcome.IGNORED_EVENT, Outcome.IGNORED_BRANCH)


def decide(state: Project, asked: AcceptDelivery, found: Delivery | None = None) -> Recorded:
    return deliveries.decide(state, found, asked, now=NOW, numbers=NUMBERS)


def push(**changes: object) -> Canonical:
    return canonical().model_copy(update=changes)


class TestCheck:
    def test_a_webhook_that_changed_since_it_verified_the_delivery_is_stale(self) -> None:
        with pytest.raises(StaleVerification):
            decide(project().with_webhook("github", webhook("v2")), command())

    def test_a_webhook_that_was_disabled_is_stale(self) -> None:
        with pytest.raises(StaleVerification):
            decide(project().with_webhook("github", replace(webhook(), enabled=False)), command())

    def test_a_webhook_that_is_gone_is_stale(self) -> None:
        with pytest.raises(StaleVerification):
            decide(project().without_webhook("github"), command())

    def test_another_providers_webhook_does_not_answer_for_it(self) -> None:
        assert decide(project().without_webhook("gitlab"), command()).run is not None

    @pytest.mark.req("C7")
    def test_a_delivery_about_another_repository_is_refused(self) -> None:
        with pytest.raises(RepositoryMismatch):
            decide(project(), command(push(repository_urls=("https://github.com/acme/other.git",))))

    def test_any_of_the_payloads_urls_may_name_the_repository(self) -> None:
        urls = ("https://mirror.example.com/site.git", "ssh://git@github.com/Acme/Site.git")

        assert decide(project(), command(push(repository_urls=urls))).run is not None

    def test_an_organisations_ping_names_no_repository_and_is_taken(self) -> None:
        ping = push(event_kind=EventKind.PING, repository_urls=(), repository_url=None)

        assert decide(project(), command(ping)).row.outcome is Outcome.IGNORED_PING


class TestClassification:
    @pytest.mark.req("R62")
    @pytest.mark.parametrize(
        ("kind", "branch", "outcome"),
        [
            (EventKind.PING, None, Outcome.IGNORED_PING),
            (EventKind.PING, "main", Outcome.IGNORED_PING),
            (EventKind.TAG, None, Outcome.IGNORED_EVENT),
            (EventKind.DELETION, "main", Outcome.IGNORED_EVENT),
            (EventKind.OTHER, None, Outcome.IGNORED_EVENT),
            (EventKind.PUSH, "feature", Outcome.IGNORED_BRANCH),
            (EventKind.PUSH, "Main", Outcome.IGNORED_BRANCH),
            (EventKind.PUSH, None, Outcome.IGNORED_BRANCH),
        ],
    )
    def test_what_asks_for_no_run_is_recorded_under_its_own_outcome(
        self, kind: EventKind, branch: str | None, outcome: Outcome
    ) -> None:
        recorded = decide(project(), command(push(event_kind=kind, branch=branch)))

        assert (recorded.row.outcome, recorded.row.run_id, recorded.duplicate) == (outcome, None, False)
        assert (recorded.project, recorded.run, recorded.ref_event) == (None, None, None)

    @pytest.mark.parametrize(
        ("branch", "outcome", "note"),
        [("main", Outcome.IGNORED_EVENT, Note.SKIP_CI), ("feature", Outcome.IGNORED_BRANCH, None)],
    )
    def test_a_commit_that_asks_for_no_run_gets_none_where_it_would_have_got_one(
        self, branch: str, outcome: Outcome, note: Note | None
    ) -> None:
        recorded = decide(project(), command(push(branch=branch, skip_ci=True)))

        assert (recorded.row.outcome, recorded.row.note, recorded.run) == (outcome, note, None)

    @pytest.mark.req("R61")
    @pytest.mark.inv("D3")
    def test_there_are_exactly_five_outcomes(self) -> None:
        assert [outcome.value for outcome in Outcome] == [
            "accepted",
            "ignored_ping",
            "ignored_event",
            "ignored_branch",
            "queue_full",
        ]

    def test_a_push_without_a_commit_is_no_usable_payload(self) -> None:
        with pytest.raises(InvalidPayload):
            decide(project(), command(push(commit_sha=None)))


class TestAcceptance:
    @pytest.mark.parametrize("provider", list(Provider))
    def test_a_push_to_the_tracked_branch_becomes_a_run_whoever_sends_it(self, provider: Provider) -> None:
        recorded = decide(project(), command(canonical(provider=provider)))

        assert (recorded.row.outcome, recorded.row.run_id) == (Outcome.ACCEPTED, run_id(9))

    @pytest.mark.req("R11")
    def test_the_run_is_pinned_to_the_pushed_commit(self) -> None:
        run = decide(project(), command()).run

        assert run is not None
        assert (run.commit_sha, run.pinned, run.before_sha) == (SHA, True, OTHER_SHA)

    def test_the_run_waits_in_the_queue_from_now_on(self) -> None:
        recorded = decide(project(executable(1)), command())

        assert recorded.run is not None
        assert recorded.project is not None
        assert (recorded.run.run_id, recorded.run.status, recorded.run.position) == (run_id(9), Status.QUEUED, 2)
        assert (recorded.run.kind, recorded.run.trigger, recorded.run.actor) == (Kind.ACTION, Trigger.WEBHOOK, None)
        assert [each.position for each in recorded.project.queue] == [1, 2]

    def test_a_run_that_is_executable_at_once_is_to_be_dispatched_now(self) -> None:
        recorded = decide(project(), command())

        assert recorded.run is not None
        assert recorded.project is not None
        assert queue.executable(recorded.project) == run_id(9)
        assert recorded.run.timers == Timers(dispatch=NOW, index=NOW)

    def test_a_run_behind_another_is_not_dispatched(self) -> None:
        recorded = decide(project(executable(1)), command())

        assert recorded.run is not None
        assert recorded.run.timers == Timers(index=NOW)

    @pytest.mark.req("R33")
    def test_the_index_owes_the_run_its_first_row(self) -> None:
        recorded = decide(project(), command())

        assert recorded.run is not None
        assert recorded.run.index_sync is IndexSync.NEEDS_CREATE

    def test_the_push_is_kept_with_the_run_that_it_became(self) -> None:
        event = decide(project(executable(1)), command()).ref_event

        assert event == replace(
            ref_event(), received_at=NOW, order=2, run_ids=(run_id(9),), expires_at=NOW + timedelta(days=30)
        )

    def test_the_row_holds_what_the_provider_said(self) -> None:
        row = decide(project(), command()).row

        assert row == replace(delivery(decided_at=NOW), decided_by=run_id(9), run_id=run_id(9))


class TestFullQueue:
    @pytest.mark.req("R49")
    def test_a_push_at_the_cap_is_kept_as_queue_full_without_a_run(self) -> None:
        recorded = decide(FULL, command())

        assert (recorded.row.outcome, recorded.row.run_id, recorded.duplicate) == (Outcome.QUEUE_FULL, None, False)
        assert (recorded.project, recorded.run, recorded.ref_event) == (None, None, None)

    def test_what_asks_for_no_run_does_not_look_at_capacity(self) -> None:
        assert decide(FULL, command(push(branch="feature"))).row.outcome is Outcome.IGNORED_BRANCH

    @pytest.mark.req("R51")
    def test_sent_again_when_there_is_room_the_same_row_is_accepted_with_its_run(self) -> None:
        recorded = decide(project(), command(), delivery(Outcome.QUEUE_FULL))

        assert (recorded.row.outcome, recorded.row.run_id, recorded.duplicate) == (
            Outcome.ACCEPTED,
            run_id(9),
            False,
        )
        assert recorded.row.row_id == delivery().row_id
        assert recorded.run is not None
        assert recorded.run.run_id == run_id(9)

    @pytest.mark.req("C5")
    def test_a_new_decision_keeps_when_the_delivery_was_first_seen_and_starts_its_72_hours_anew(self) -> None:
        row = decide(project(), command(), replace(delivery(Outcome.QUEUE_FULL), duplicate_count=2)).row

        assert (row.received_at, row.decided_at, row.duplicate_count) == (EARLIER, NOW, 2)
        assert row.expires_at == NOW + timedelta(hours=72)

    @pytest.mark.req("R52")
    def test_sent_again_when_there_still_is_none_it_stays_queue_full(self) -> None:
        recorded = decide(FULL, command(), delivery(Outcome.QUEUE_FULL))

        assert (recorded.row.outcome, recorded.row.run_id, recorded.duplicate) == (Outcome.QUEUE_FULL, None, False)
        assert (recorded.row.received_at, recorded.row.decided_at) == (EARLIER, NOW)

    @pytest.mark.req("C6")
    @pytest.mark.parametrize("full", [True, False])
    def test_a_push_that_would_now_be_ignored_is_replayed_as_it_was(self, full: bool) -> None:
        state = replace(FULL if full else project(), default_branch="trunk")
        found = delivery(Outcome.QUEUE_FULL)

        assert decide(state, command(), found) == Recorded(row=found, duplicate=True)


class TestReplay:
    @pytest.mark.req("R53")
    @pytest.mark.inv("D4")
    @pytest.mark.parametrize("outcome", FINAL)
    @pytest.mark.parametrize("state", [project(), FULL, replace(project(), default_branch="trunk")])
    def test_a_kept_outcome_is_final_whatever_changed_since(self, outcome: Outcome, state: Project) -> None:
        found = delivery(outcome)

        assert decide(state, command(), found) == Recorded(row=found, duplicate=True)

    @pytest.mark.inv("D5")
    def test_a_replay_still_needs_a_webhook_that_verifies_now(self) -> None:
        with pytest.raises(StaleVerification):
            decide(project().with_webhook("github", webhook("v2")), command(), delivery())

    @pytest.mark.req("R65")
    @pytest.mark.inv("D9")
    @pytest.mark.parametrize("outcome", list(Outcome))
    def test_a_row_counts_until_72_hours_after_its_decision_and_not_a_moment_longer(self, outcome: Outcome) -> None:
        last = delivery(outcome, decided_at=NOW - timedelta(hours=72) + timedelta(microseconds=1))
        past = delivery(outcome, decided_at=NOW - timedelta(hours=72))

        assert decide(project(), command(push(branch="feature")), last) == Recorded(row=last, duplicate=True)
        assert decide(project(), command(), past).row == replace(
            delivery(decided_at=NOW), decided_by=run_id(9), run_id=run_id(9)
        )

    @pytest.mark.parametrize("outcome", list(Outcome))
    def test_a_command_whose_answer_was_lost_finds_its_own_decision(self, outcome: Outcome) -> None:
        found = delivery(outcome)

        assert decide(project(), command(number=1), found) == Recorded(row=found, duplicate=False)

    @pytest.mark.req("R63")
    def test_a_replay_is_counted_and_nothing_else_of_the_row_changes(self) -> None:
        row = deliveries.repeated(delivery(), times=1, now=NOW)

        assert row == replace(delivery(), duplicate_count=1, last_duplicate_at=NOW)
        assert deliveries.repeated(row, times=2, now=NOW).duplicate_count == 3
