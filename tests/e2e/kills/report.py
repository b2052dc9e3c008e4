"""What was struck, what it was in the middle of, and what came of it: a table for whoever ran the night."""

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from statistics import median

from services.coordinator.records.run import Run
from tests.e2e.kills.strikes import Strike

COLUMNS = "{:12} {:24} {:>6} {:>14} {:>18} {:>11}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Round:
    """`busy` says of each strike whether it hit something in the middle; `drain` is in seconds."""

    strikes: tuple[Strike, ...]
    busy: tuple[bool, ...]
    drain: float
    violations: int


@dataclass(slots=True)
class Report:
    rounds: list[Round] = field(default_factory=list[Round])
    ends: Counter[str] = field(default_factory=Counter[str])
    lost_answers: int = 0
    lost_commits: int = 0

    def ended(self, runs: Iterable[Run]) -> None:
        self.ends.update(f"{run.status}{'' if run.reason is None else f' ({run.reason})'}" for run in runs)

    def lines(self) -> Iterator[str]:
        yield COLUMNS.format("service", "struck by", "times", "while it worked", "drain s (mid/max)", "violations")
        hits = [
            (strike, busy, each) for each in self.rounds for strike, busy in zip(each.strikes, each.busy, strict=True)
        ]
        for service, how in sorted({(strike.service, strike.how) for strike, _, _ in hits}):
            of_this = [(busy, each) for strike, busy, each in hits if (strike.service, strike.how) == (service, how)]
            yield COLUMNS.format(
                service,
                how,
                len(of_this),
                sum(busy for busy, _ in of_this),
                _drains([each for _, each in of_this]),
                sum(each.violations for _, each in of_this),
            )
        yield COLUMNS.format(
            "all",
            f"{len(self.rounds)} rounds",
            len(hits),
            sum(busy for _, busy, _ in hits),
            _drains(self.rounds),
            sum(each.violations for each in self.rounds),
        )
        yield "runs: " + ", ".join(f"{times} {end}" for end, times in self.ends.most_common())
        yield f"answers of the database that were lost: {self.lost_answers}, {self.lost_commits} of them to commits"


def _drains(rounds: list[Round]) -> str:
    drains = [each.drain for each in rounds]
    return f"{median(drains):.1f} / {max(drains):.1f}"
