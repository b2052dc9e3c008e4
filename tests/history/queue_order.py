"""Whether runs went through their queues in order: accepted in a line, begun in it, one at a time, once each.

Pure.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations, pairwise


@dataclass(frozen=True, slots=True, kw_only=True)
class Accepted:
    """A run was given a position by a call that lasted from `invoked` to `completed`; None: it was not answered."""

    project: str
    run_id: str
    position: int
    invoked: int
    completed: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Ran:
    """The commands of a run were alive from `began` up to, not including, `ended`; None: to the end."""

    project: str
    run_id: str
    began: int
    ended: int | None


def violations(accepted: Sequence[Accepted], ran: Sequence[Ran]) -> Iterator[str]:
    for project in sorted({each.project for each in accepted} | {each.project for each in ran}):
        line = [each for each in accepted if each.project == project]
        starts = sorted((each for each in ran if each.project == project), key=lambda each: each.began)
        yield from _in_a_line(project, line)
        yield from _begun_in_order(project, {each.run_id: each.position for each in line}, starts)
        yield from _one_at_a_time(project, starts)


def _in_a_line(project: str, accepted: Sequence[Accepted]) -> Iterator[str]:
    """One position a run, one run a position, and whoever was answered first is ahead of whoever asked then."""
    for one, other in combinations(accepted, 2):
        if one.run_id == other.run_id and one.position != other.position:
            yield f"{project}: {one.run_id} was given positions {one.position} and {other.position}"
        if one.run_id != other.run_id and one.position == other.position:
            yield f"{project}: position {one.position} was given to {one.run_id} and {other.run_id}"
        for first, second in ((one, other), (other, one)):
            if first.completed is not None and first.completed < second.invoked and first.position > second.position:
                yield f"{project}: {first.run_id} was accepted before {second.run_id}, and is behind it"


def _begun_in_order(project: str, positions: dict[str, int], starts: Sequence[Ran]) -> Iterator[str]:
    """What began, in the order in which it began, is a part of the line."""
    yield from (f"{project}: {each.run_id} began, and was never accepted" for each in _strangers(positions, starts))
    known = [each for each in starts if each.run_id in positions]
    for first, second in pairwise(known):
        if positions[first.run_id] > positions[second.run_id]:
            yield f"{project}: {first.run_id} began before {second.run_id}, which was ahead of it"


def _one_at_a_time(project: str, starts: Sequence[Ran]) -> Iterator[str]:
    for one, other in combinations(starts, 2):
        if one.run_id == other.run_id:
            yield f"{project}: {one.run_id} began twice, at {one.began} and {other.began}"
        elif one.ended is None or other.began < one.ended:
            yield f"{project}: {one.run_id} and {other.run_id} ran at once, at {other.began}"


def _strangers(positions: dict[str, int], starts: Iterable[Ran]) -> list[Ran]:
    return [each for each in starts if each.run_id not in positions]
