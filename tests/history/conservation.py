"""Whether every run that was acknowledged is somewhere, and nothing else is: queued + active + ended.

Pure.
"""

from collections.abc import Iterator, Set
from dataclasses import dataclass
from itertools import combinations


@dataclass(frozen=True, slots=True, kw_only=True)
class Read:
    """What one look at the runs showed. `acknowledged` had been promised by then; of `unknown` nobody was told."""

    acknowledged: Set[str]
    unknown: Set[str]
    queued: Set[str]
    active: Set[str]
    ended: Set[str]


def violations(read: Read) -> Iterator[str]:
    places = {"queued": read.queued, "active": read.active, "ended": read.ended}
    there = read.queued | read.active | read.ended
    for (one, ones), (other, others) in combinations(places.items(), 2):
        yield from (f"{run_id} is {one} and {other}" for run_id in sorted(ones & others))
    yield from (f"{run_id} was acknowledged, and is nowhere" for run_id in sorted(read.acknowledged - there))
    yield from (f"{run_id} is there, and nobody asked" for run_id in sorted(there - read.acknowledged - read.unknown))
