"""The states of a run and the moves between them.

Public statuses are the only ones anybody outside the coordinator sees (R6). A run that waits is `queued`; whether it is
pending or executable is known to its project's queue alone (R5, R7, R8).
"""

from enum import StrEnum

from services.kernel.errors import Conflict


class Status(StrEnum):
    QUEUED = "queued"
    STARTING = "starting"
    RUNNING = "running"
    CANCEL_REQUESTED = "cancel_requested"
    CANCELING = "canceling"
    PASSED = "passed"
    FAILED = "failed"
    CANCELED = "canceled"

    @property
    def terminal(self) -> bool:
        """Whether the run has ended; nothing leaves a terminal status."""
        return not MOVES[self]

    @property
    def active(self) -> bool:
        """Whether an attempt owns the run now."""
        return self is not Status.QUEUED and not self.terminal


MOVES: dict[Status, frozenset[Status]] = {
    Status.QUEUED: frozenset({Status.STARTING, Status.CANCELED, Status.FAILED}),
    Status.STARTING: frozenset({Status.RUNNING, Status.CANCEL_REQUESTED, Status.FAILED}),
    Status.RUNNING: frozenset({Status.PASSED, Status.FAILED, Status.CANCEL_REQUESTED}),
    Status.CANCEL_REQUESTED: frozenset({Status.CANCELING, Status.CANCELED, Status.FAILED}),
    Status.CANCELING: frozenset({Status.CANCELED, Status.FAILED}),
    Status.PASSED: frozenset(),
    Status.FAILED: frozenset(),
    Status.CANCELED: frozenset(),
}


class IllegalMove(Conflict):
    """A run cannot go from this status to that one."""

    code = "illegal_move"


def move(current: Status, to: Status) -> Status:
    """`to`, if a run may go there from `current`.

    Raises:
        IllegalMove: it may not; nothing is coerced.
    """
    if to not in MOVES[current]:
        raise IllegalMove(f"a run cannot go from {current} to {to}")
    return to


class Reason(StrEnum):
    """Why a run ended as it did (C8); null where the status says it all."""

    STEP_FAILED = "step_failed"
    RUNNER_LOST = "runner_lost"
    DISPATCH_FAILED = "dispatch_failed"
    TIMED_OUT = "timed_out"
    CHECKOUT_FAILED = "checkout_failed"
    CONFIG_INVALID = "config_invalid"
    RUNNER_TERMINATED = "runner_terminated"
    TEARDOWN_FAILED = "teardown_failed"


class Kind(StrEnum):
    """What a run is for (C20)."""

    ACTION = "action"
    SITE_BUILD = "site_build"


class Trigger(StrEnum):
    """Who asked for a run."""

    WEBHOOK = "webhook"
    MANUAL = "manual"
    RERUN = "rerun"


class Directive(StrEnum):
    """What a runner does next, told in the answer to start and heartbeat.

    A runner that no longer owns its run gets the error `ownership_lost` instead.
    """

    CONTINUE = "continue"
    CANCEL = "cancel"


class Verdict(StrEnum):
    """The answer to a claim: run it, or why there is nothing to do."""

    EXECUTE = "execute"
    RUN_MISSING = "run_missing"
    RUN_ACTIVE = "run_active"
    CANCELED = "canceled"
    SUPERSEDED = "superseded"
    ALREADY_TERMINAL = "already_terminal"
    NOT_CURRENTLY_EXECUTABLE = "not_currently_executable"
