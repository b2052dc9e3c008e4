"""How the run index follows the runs."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from itertools import product

import pytest

from services.coordinator.records.row import Row
from services.coordinator.records.run import IndexSync, Timers
from services.coordinator.rules import index
from services.coordinator.rules.index import IllegalIndexMove
from services.kernel.runs import Kind, Reason, Status, Trigger
from tests.unit.coordinator.builders import EARLIER, NOW, OTHER_SHA, PROJECT_ID, SHA, run, run_id, seconds

ALLOWED = {
    ("needs_create", "current"),
    ("needs_create", "needs_update"),
    ("needs_create", "needs_terminal_update"),
    ("current", "needs_update"),
    ("current", "needs_terminal_update"),
    ("needs_update", "current"),
    ("needs_update", "needs_terminal_update"),
    ("needs_terminal_update", "done"),
}

KEEP = timedelta(days=400)
OPEN = (Status.QUEUED, Status.STARTING, Status.RUNNING, Status.CANCEL_REQUESTED, Status.CANCELING)


def row(status: Status, *, number: int = 1) -> Row:
    return index.truth(run(number, status), keep=KEEP)


def ended_row() -> Row:
    return replace(row(Status.FAILED), reason=Reason.STEP_FAILED, exit_code=2)


@pytest.mark.req("R30")
def test_there_are_exactly_five_states_of_the_projection() -> None:
    assert [state.value for state in IndexSync] == [
        "needs_create",
        "current",
        "needs_update",
        "needs_terminal_update",
        "done",
    ]


@pytest.mark.req("R31")
@pytest.mark.inv("Y1")
@pytest.mark.parametrize(("current", "to"), list(product(IndexSync, IndexSync)))
def test_the_projection_moves_along_the_eight_moves_and_no_others(current: IndexSync, to: IndexSync) -> None:
    if (current.value, to.value) in ALLOWED:
        assert index.move(current, to) is to
    else:
        with pytest.raises(IllegalIndexMove):
            index.move(current, to)


@pytest.mark.req("R32")
@pytest.mark.parametrize("status", [Status.RUNNING, Status.PASSED])
def test_a_change_after_done_is_refused(status: Status) -> None:
    with pytest.raises(IllegalIndexMove):
        index.owes(replace(run(1, status), index_sync=IndexSync.DONE), now=NOW)


@pytest.mark.parametrize("status", OPEN)
@pytest.mark.parametrize("sync", [IndexSync.NEEDS_CREATE, IndexSync.CURRENT, IndexSync.NEEDS_UPDATE])
def test_a_change_before_the_end_owes_an_update_at_once(status: Status, sync: IndexSync) -> None:
    owing = index.owes(replace(run(1, status), index_sync=sync, index_failures=3), now=NOW)

    assert (owing.index_sync, owing.index_failures, owing.timers.index) == (IndexSync.NEEDS_UPDATE, 0, NOW)


@pytest.mark.inv("Y2")
@pytest.mark.parametrize("status", [Status.PASSED, Status.FAILED, Status.CANCELED])
@pytest.mark.parametrize("sync", [IndexSync.NEEDS_CREATE, IndexSync.CURRENT, IndexSync.NEEDS_UPDATE])
def test_the_end_owes_a_terminal_update_at_once(status: Status, sync: IndexSync) -> None:
    owing = index.owes(replace(run(1, status), index_sync=sync, index_failures=3), now=NOW)

    assert (owing.index_sync, owing.index_failures) == (IndexSync.NEEDS_TERMINAL_UPDATE, 0)
    assert owing.timers.index == NOW


@pytest.mark.req("C4")
def test_a_change_of_metadata_while_the_terminal_update_is_owed_changes_no_state() -> None:
    late = replace(run(1, Status.FAILED), index_sync=IndexSync.NEEDS_TERMINAL_UPDATE, commit_sha=OTHER_SHA)

    assert index.owes(late, now=NOW).index_sync is IndexSync.NEEDS_TERMINAL_UPDATE


@pytest.mark.parametrize(
    ("before", "expected"),
    [
        (IndexSync.NEEDS_CREATE, IndexSync.CURRENT),
        (IndexSync.NEEDS_UPDATE, IndexSync.CURRENT),
        (IndexSync.CURRENT, IndexSync.CURRENT),
        (IndexSync.NEEDS_TERMINAL_UPDATE, IndexSync.DONE),
    ],
)
def test_nothing_is_owed_once_the_row_is_written(before: IndexSync, expected: IndexSync) -> None:
    owing = replace(run(), index_sync=before, index_failures=2, timers=Timers(watchdog=NOW, index=EARLIER))
    synced = index.synced(owing)

    assert (synced.index_sync, synced.index_failures, synced.timers) == (expected, 0, Timers(watchdog=NOW))


@pytest.mark.parametrize(("failures", "wait"), [(0, 5), (1, 15), (2, 30), (3, 60), (4, 300), (5, 300), (99, 300)])
def test_a_sync_that_fails_is_tried_again_later_each_time_for_ever(failures: int, wait: int) -> None:
    retries = (seconds(5), seconds(15), seconds(30), seconds(60), seconds(300))
    failed = index.put_off(replace(run(), index_failures=failures), now=NOW, retries=retries)

    assert failed.timers.index == NOW + seconds(wait)
    assert failed.index_failures == failures + 1


def test_the_row_says_what_is_known_of_the_run() -> None:
    failed = replace(run(3, Status.FAILED), actor="ada@example.com", reason=Reason.STEP_FAILED, exit_code=2)

    assert index.truth(replace(failed, before_sha=OTHER_SHA), keep=KEEP) == Row(
        run_id=run_id(3),
        project_id=PROJECT_ID,
        project=failed.project,
        kind=Kind.ACTION,
        trigger=Trigger.WEBHOOK,
        actor="ada@example.com",
        status=Status.FAILED,
        branch="main",
        commit_sha=SHA,
        before_sha=OTHER_SHA,
        reason=Reason.STEP_FAILED,
        exit_code=2,
        queued_at=EARLIER,
        started_at=EARLIER,
        finished_at=EARLIER,
        expires_at=datetime(2028, 1, 4, 11, 50, tzinfo=UTC),
    )


@pytest.mark.req("R41")
@pytest.mark.parametrize("status", list(Status))
def test_the_upsert_makes_the_row_where_there_is_none(status: Status) -> None:
    assert index.merge(None, row(status)) == row(status)


@pytest.mark.req("R34")
def test_a_later_state_of_an_open_run_takes_the_place_of_an_earlier_one() -> None:
    assert index.merge(row(Status.STARTING), row(Status.RUNNING)) == row(Status.RUNNING)


def test_an_earlier_state_of_an_open_run_that_comes_late_changes_nothing() -> None:
    assert index.merge(row(Status.RUNNING), row(Status.QUEUED)) == row(Status.RUNNING)


@pytest.mark.req("R40")
@pytest.mark.parametrize("status", OPEN)
def test_an_open_row_ends_with_the_terminal_upsert(status: Status) -> None:
    assert index.merge(row(status), ended_row()) == ended_row()


@pytest.mark.req("R42")
@pytest.mark.inv("Y6")
@pytest.mark.parametrize("status", OPEN)
def test_a_late_upsert_of_an_open_run_leaves_an_ended_row_alone(status: Status) -> None:
    late = replace(row(status), started_at=NOW)

    assert index.merge(ended_row(), late) == ended_row()


@pytest.mark.inv("S3")
@pytest.mark.parametrize("status", [Status.PASSED, Status.CANCELED])
def test_an_ended_row_does_not_end_otherwise(status: Status) -> None:
    assert index.merge(ended_row(), row(status)) == ended_row()


@pytest.mark.req("R43")
@pytest.mark.inv("Y7")
@pytest.mark.parametrize("status", list(Status))
def test_a_known_sha_is_neither_lost_nor_changed(status: Status) -> None:
    unknown = replace(row(status), commit_sha=None)
    another = replace(row(status), commit_sha=OTHER_SHA)

    assert index.merge(row(Status.QUEUED), unknown).commit_sha == SHA
    assert index.merge(row(Status.QUEUED), another).commit_sha == SHA


@pytest.mark.req("R35")
def test_a_sha_that_comes_late_is_filled_in_even_in_an_ended_row() -> None:
    without = replace(ended_row(), commit_sha=None)

    assert index.merge(without, row(Status.RUNNING)) == ended_row()
