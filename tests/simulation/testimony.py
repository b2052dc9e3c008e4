"""What the callers know for sure: the ground truth that the stored state is held against."""

from collections import Counter
from dataclasses import dataclass, field
from datetime import datetime

from services.kernel.runs import Status
from services.kernel.wire.deliveries import DeliveryAnswer, Outcome


@dataclass(frozen=True, slots=True, kw_only=True)
class Answered:
    """An answer to a delivery of `key`, asked and answered at these moments."""

    key: tuple[str, ...]
    asked_at: datetime
    at: datetime
    answer: DeliveryAnswer


@dataclass(slots=True)
class Testimony:
    """`torn_down` holds runs whose runner said, or was about to say, that its sandbox is gone; `executed` counts how
    often the commands of a run began; `reached` the interesting states. `rotations` are the versions that were to
    follow others, by the new one, where who rotates chose it; `rotated` the versions that ingress was asked to replace,
    and `won` how often it said that it did.
    `shown` are all secrets that were ever told, `refusals` the bodies of all refusals of a signature. `written` is
    what each run's runner wrote to its log, `kept` of how many pieces it was told that they are stored.
    """

    __test__ = False

    acked: set[str] = field(default_factory=set[str])
    answers: list[Answered] = field(default_factory=list[Answered])
    refused: set[str] = field(default_factory=set[str])
    torn_down: set[str] = field(default_factory=set[str])
    reported: dict[str, set[Status]] = field(default_factory=dict[str, set[Status]])
    checked_out: dict[str, str] = field(default_factory=dict[str, str])
    executed: Counter[str] = field(default_factory=Counter[str])
    winners: dict[str, set[str]] = field(default_factory=dict[str, set[str]])
    rotations: dict[str, str] = field(default_factory=dict[str, str])
    rotated: set[str] = field(default_factory=set[str])
    won: Counter[str] = field(default_factory=Counter[str])
    shown: set[str] = field(default_factory=set[str])
    refusals: set[str] = field(default_factory=set[str])
    deleted: set[tuple[str, str]] = field(default_factory=set[tuple[str, str]])
    written: dict[str, list[str]] = field(default_factory=dict[str, list[str]])
    kept: Counter[str] = field(default_factory=Counter[str])
    reached: Counter[str] = field(default_factory=Counter[str])

    def delivered(self, answered: Answered) -> None:
        self.answers.append(answered)
        if answered.answer.run_id is not None:
            self.acked.add(answered.answer.run_id)
        earlier = [each for each in self.answers if each.key == answered.key]
        if answered.answer.outcome is Outcome.ACCEPTED and any(
            each.answer.outcome is Outcome.QUEUE_FULL for each in earlier
        ):
            self.reached["a full queue, then accepted"] += 1

    def claimed(self, run_id: str, token: str) -> None:
        self.winners.setdefault(run_id, set()).add(token)
