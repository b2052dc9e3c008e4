"""Who is struck, how and when: drawn from a seed, so that every service meets everything equally often.

Pure.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from enum import StrEnum
from itertools import product
from random import Random

from services.local.addresses import Service

SERVICES = (Service.INGRESS, Service.COORDINATOR, Service.RUNNER)
INSTANCES = (1, 2)
SOON = timedelta(milliseconds=800)


class How(StrEnum):
    KILL = "SIGKILL"
    TERM = "SIGTERM"
    PAUSE = "SIGSTOP"
    """For less than a lease."""
    TAKEOVER = "SIGSTOP past a takeover"


class When(StrEnum):
    ACCEPTING = "as the pushes come in"
    EXECUTING = "with the second wave, once a third of the runs have ended"


@dataclass(frozen=True, slots=True, kw_only=True)
class Strike:
    """`after` counts from the beginning of `when`; `pause` is for how long the victim is stopped."""

    service: Service
    instance: int
    how: How
    when: When
    after: timedelta
    pause: timedelta

    @property
    def victim(self) -> str:
        return f"{self.service}-{self.instance}"

    def __str__(self) -> str:
        pause = f" for {self.pause.total_seconds():.1f} s" if self.pause else ""
        return f"{self.how}{pause} to {self.victim} {self.after // timedelta(milliseconds=1)} ms after: {self.when}"


def drawn(count: int, *, seed: int, lease: timedelta, stale: timedelta) -> Sequence[tuple[Strike, Strike]]:
    """Pairs of strikes, `count` or one more in all; the second of a pair has another victim than the first."""
    random = Random(seed)
    pairs: list[tuple[Strike, Strike]] = []
    deck: list[tuple[Service, How]] = []
    while 2 * len(pairs) < count:
        if len(deck) < 2:
            deck = [*product(SERVICES, How)]
            random.shuffle(deck)
        first, second = (_strike(*deck.pop(), when=when, random=random, lease=lease, stale=stale) for when in When)
        pairs.append((first, second if second.victim != first.victim else _other_instance(second)))
    return pairs


def _strike(service: Service, how: How, *, when: When, random: Random, lease: timedelta, stale: timedelta) -> Strike:
    match how:
        case How.KILL | How.TERM:
            pause = timedelta()
        case How.PAUSE:
            pause = lease * random.uniform(0.1, 0.7)
        case How.TAKEOVER:
            pause = stale + timedelta(seconds=random.uniform(0.5, 2))
    instance, after = random.choice(INSTANCES), SOON * random.random()
    return Strike(service=service, instance=instance, how=how, when=when, after=after, pause=pause)


def _other_instance(strike: Strike) -> Strike:
    (other,) = {*INSTANCES} - {strike.instance}
    return Strike(
        service=strike.service,
        instance=other,
        how=strike.how,
        when=strike.when,
        after=strike.after,
        pause=strike.pause,
    )
