"""The project queue: who waits, who runs, who is next."""

from dataclasses import replace

import pytest

from services.coordinator.records.project import Project, QueueEntry
from services.coordinator.rules import queue
from services.kernel.errors import QueueFull
from tests.unit.coordinator.builders import NOW, SHA, active, entry, executable, project, run_id


def accept(state: Project, number: int, *, cap: int = 20) -> Project:
    return queue.accept(state, run_id(number), branch="main", commit_sha=SHA, now=NOW, cap=cap)


def states(state: Project) -> list[tuple[int, str]]:
    return [(each.position, each.state.value) for each in state.queue]


def test_the_first_run_is_executable_at_once() -> None:
    state = accept(project(), 1)

    assert states(state) == [(1, "executable")]
    assert queue.executable(state) == run_id(1)


def test_a_run_behind_another_is_pending() -> None:
    assert states(accept(project(executable(1)), 2)) == [(1, "executable"), (2, "pending")]


def test_a_run_behind_an_active_one_is_pending() -> None:
    assert states(accept(project(active=active(7)), 1)) == [(1, "pending")]


@pytest.mark.req("R18")
def test_a_run_gets_its_position_when_it_is_accepted() -> None:
    state = accept(project(executable(1), entry(4)), 9)

    assert [(each.run_id, each.position) for each in state.queue][-1] == (run_id(9), 5)
    assert state.next_position == 6


@pytest.mark.req("R19")
def test_positions_rise_in_the_order_of_acceptance() -> None:
    assert [each.position for each in accept(accept(accept(project(), 30), 10), 20).queue] == [1, 2, 3]


@pytest.mark.req("C14")
def test_positions_do_not_begin_again_when_the_queue_was_empty() -> None:
    drained = queue.leave(accept(project(), 1), run_id(1))

    assert drained.queue == ()
    assert states(accept(drained, 2)) == [(2, "executable")]


@pytest.mark.req("R44")
def test_twenty_runs_wait_and_the_twenty_first_is_refused() -> None:
    nineteen = project(*(entry(number) for number in range(1, 20)), active=active(99))
    twenty = accept(nineteen, 20)

    assert len(twenty.queue) == 20
    with pytest.raises(QueueFull):
        accept(twenty, 21)


@pytest.mark.req("C3")
def test_the_executable_run_counts_as_waiting_and_the_active_one_does_not() -> None:
    with pytest.raises(QueueFull):
        accept(project(executable(1), entry(2)), 3, cap=2)

    assert states(accept(project(entry(2), active=active(1)), 3, cap=2)) == [(2, "pending"), (3, "pending")]


def test_a_claimed_run_is_active_and_has_left_the_queue() -> None:
    state = queue.claim(project(executable(1), entry(2)), active(1))

    assert state.active == active(1)
    assert states(state) == [(2, "pending")]


@pytest.mark.req("R20")
def test_nobody_is_renumbered_when_a_run_leaves() -> None:
    state = queue.leave(project(executable(1), entry(2), entry(3)), run_id(2))

    assert states(state) == [(1, "executable"), (3, "pending")]
    assert state.next_position == 4


@pytest.mark.req("R21")
def test_the_run_behind_a_gap_is_next() -> None:
    assert states(queue.release(project(entry(3), entry(8), active=active(1)))) == [(3, "executable"), (8, "pending")]


@pytest.mark.req("C28")
def test_when_an_executable_run_leaves_the_next_one_is_executable() -> None:
    assert states(queue.leave(project(executable(1), entry(2)), run_id(1))) == [(2, "executable")]


def test_when_a_pending_run_leaves_during_an_active_one_nobody_is_promoted() -> None:
    assert states(queue.leave(project(entry(2), entry(3), active=active(1)), run_id(2))) == [(3, "pending")]


@pytest.mark.req("R23")
def test_the_waiting_run_with_the_smallest_position_is_promoted() -> None:
    state = queue.release(project(entry(5), entry(6), entry(7), active=active(1)))

    assert state.active is None
    assert queue.executable(state) == run_id(5)


def test_promoting_twice_is_promoting_once() -> None:
    once = queue.promote(project(entry(1), entry(2)))

    assert queue.promote(once) == once


def test_an_empty_queue_has_nobody_to_promote() -> None:
    assert queue.release(project(active=active(1))) == project()


@pytest.mark.parametrize(
    ("waiting", "without", "expected"),
    [
        ((executable(1), entry(2)), 1, run_id(2)),
        ((executable(1), entry(2)), 2, run_id(1)),
        ((entry(2), entry(3)), 1, run_id(2)),
        ((executable(1),), 1, None),
        ((), 1, None),
    ],
)
def test_the_successor_is_the_first_who_would_wait_without_a_run(
    waiting: tuple[QueueEntry, ...], without: int, expected: str | None
) -> None:
    assert queue.successor(project(*waiting), run_id(without)) == expected


def test_nobody_is_executable_while_all_wait() -> None:
    assert queue.executable(replace(project(entry(1)), active=active(9))) is None
