"""Which ways of runs through a queue are in order."""

from tests.history.queue_order import Accepted, Ran, violations


def accepted(run_id: str, position: int, *, at: tuple[int, int | None], project: str = "site") -> Accepted:
    return Accepted(project=project, run_id=run_id, position=position, invoked=at[0], completed=at[1])


def ran(run_id: str, began: int, ended: int | None, *, project: str = "site") -> Ran:
    return Ran(project=project, run_id=run_id, began=began, ended=ended)


LINE = [accepted("a", 1, at=(1, 2)), accepted("b", 2, at=(3, 4)), accepted("c", 5, at=(5, 6))]


def test_one_after_another_with_gaps_is_in_order() -> None:
    assert list(violations(LINE, [ran("a", 10, 20), ran("c", 20, None)])) == []


def test_overlapping_calls_may_be_accepted_in_any_order() -> None:
    assert list(violations([accepted("a", 2, at=(1, 4)), accepted("b", 1, at=(2, 3))], [])) == []


def test_who_was_never_answered_may_be_anywhere() -> None:
    assert list(violations([accepted("a", 9, at=(1, None)), accepted("b", 1, at=(5, 6))], [])) == []


def test_projects_run_beside_each_other() -> None:
    other = [accepted("x", 1, at=(1, 2), project="other")]

    assert list(violations([*LINE, *other], [ran("a", 10, 20), ran("x", 11, 15, project="other")])) == []


def test_a_position_that_is_given_twice_is_refused() -> None:
    twice = [accepted("a", 1, at=(1, 9)), accepted("b", 1, at=(2, 9))]

    assert list(violations(twice, [])) == ["site: position 1 was given to a and b"]


def test_a_run_that_changes_its_position_is_refused() -> None:
    moved = [accepted("a", 1, at=(1, 9)), accepted("a", 2, at=(1, 9))]

    assert list(violations(moved, [])) == ["site: a was given positions 1 and 2"]


def test_whoever_asked_after_an_answer_is_behind_it() -> None:
    swapped = [accepted("a", 2, at=(1, 2)), accepted("b", 1, at=(3, 4))]

    assert list(violations(swapped, [])) == ["site: a was accepted before b, and is behind it"]


def test_a_run_that_overtakes_is_refused() -> None:
    assert list(violations(LINE, [ran("b", 10, 20), ran("a", 20, 30)])) == [
        "site: b began before a, which was ahead of it"
    ]


def test_two_that_run_at_once_are_refused() -> None:
    assert list(violations(LINE, [ran("a", 10, 21), ran("b", 20, 30)])) == ["site: a and b ran at once, at 20"]


def test_a_run_without_an_end_leaves_no_room() -> None:
    assert list(violations(LINE, [ran("a", 10, None), ran("b", 20, 30)])) == ["site: a and b ran at once, at 20"]


def test_a_run_that_begins_twice_is_refused() -> None:
    assert list(violations(LINE, [ran("a", 10, 15), ran("a", 20, 30)])) == ["site: a began twice, at 10 and 20"]


def test_a_run_of_nobody_is_refused() -> None:
    assert list(violations(LINE, [ran("x", 10, 15)])) == ["site: x began, and was never accepted"]
