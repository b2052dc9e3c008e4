"""What holds of a queue whatever happens to it, in whatever order."""

from dataclasses import dataclass, field, replace

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from services.coordinator.records.project import Project, QueueState
from services.coordinator.rules import queue
from services.kernel.errors import QueueFull
from services.kernel.ids import RunId
from tests.unit.coordinator.builders import NOW, SHA, active, project, run_id

ACCEPT, CLAIM, RELEASE = -1, -2, -3
"""What may happen; a number from 0 on: the run at that place of the queue leaves it."""

happenings = st.lists(st.sampled_from([ACCEPT, CLAIM, RELEASE]) | st.integers(0, 4), max_size=60)


@dataclass(slots=True)
class History:
    """A queue of at most five with everything that became of it."""

    state: Project = field(default_factory=project)
    given: dict[RunId, int] = field(default_factory=dict[RunId, int])
    started: list[RunId] = field(default_factory=list[RunId])

    def happen(self, what: int) -> None:
        if what == ACCEPT:
            self._accept(run_id(len(self.given) + 1))
        elif what == CLAIM:
            self._claim()
        elif what == RELEASE:
            self.state = queue.release(self.state) if self.state.active else self.state
        elif what < len(self.state.queue):
            self.state = queue.leave(self.state, self.state.queue[what].run_id)

    def _accept(self, accepted: RunId) -> None:
        try:
            self.state = queue.accept(self.state, accepted, branch="main", commit_sha=SHA, now=NOW, cap=5)
        except QueueFull:
            assert len(self.state.queue) == 5
        else:
            self.given[accepted] = self.state.queue[-1].position

    def _claim(self) -> None:
        next_run = queue.executable(self.state)
        if next_run is not None:
            self.state = queue.claim(self.state, replace(active(), run_id=next_run))
            self.started.append(next_run)


def after(what: list[int]) -> History:
    history = History()
    for each in what:
        history.happen(each)
    return history


@pytest.mark.inv("Q4")
@settings(deadline=None)
@given(happenings)
def test_positions_rise_and_are_never_given_twice(what: list[int]) -> None:
    positions = list(after(what).given.values())

    assert positions == sorted(set(positions))


@pytest.mark.inv("Q5")
@settings(deadline=None)
@given(happenings)
def test_a_waiting_run_keeps_the_position_it_was_given(what: list[int]) -> None:
    history = after(what)

    assert all(history.given[each.run_id] == each.position for each in history.state.queue)


@pytest.mark.inv("Q6")
@settings(deadline=None)
@given(happenings)
def test_of_the_runs_that_start_the_earlier_accepted_starts_first(what: list[int]) -> None:
    history = after(what)
    positions = [history.given[started] for started in history.started]

    assert positions == sorted(positions)


@pytest.mark.inv("Q1")
@settings(deadline=None)
@given(happenings)
@example([ACCEPT, CLAIM, ACCEPT])
def test_at_most_one_run_is_executable_and_only_while_none_is_active(what: list[int]) -> None:
    state = after(what).state
    states = [each.state for each in state.queue]

    assert QueueState.EXECUTABLE not in states[1:]
    assert not (state.active and QueueState.EXECUTABLE in states)


@settings(deadline=None)
@given(happenings)
def test_whenever_none_is_active_the_first_who_waits_is_executable(what: list[int]) -> None:
    state = after(what).state
    first = state.queue[0].run_id if state.queue and state.active is None else None

    assert queue.executable(state) == first


@pytest.mark.inv("Q2")
@settings(deadline=None)
@given(happenings)
def test_never_more_runs_wait_than_the_cap(what: list[int]) -> None:
    assert len(after(what).state.queue) <= 5
