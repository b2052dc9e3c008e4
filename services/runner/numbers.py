"""The runner's times and sizes."""

from dataclasses import dataclass, field
from datetime import timedelta

from services.runner.logs import LogLimits


@dataclass(frozen=True, slots=True, kw_only=True)
class Numbers:
    """`run` is the limit of a run whose pipeline names none, `checkout` that of one git command.

    `grace` is the time between SIGTERM and SIGKILL. The last three bound the ways out: `hurry` is the grace when this
    very process must go, which has 8 s for all of it.
    """

    heartbeat: timedelta = timedelta(seconds=10)
    lease: timedelta = timedelta(seconds=30)
    run: timedelta = timedelta(minutes=15)
    checkout: timedelta = timedelta(minutes=5)
    grace: timedelta = timedelta(seconds=30)
    log: LogLimits = field(default_factory=LogLimits)
    teardown: timedelta = timedelta(seconds=60)
    last_words: timedelta = timedelta(seconds=15)
    hurry: timedelta = timedelta(seconds=2)
