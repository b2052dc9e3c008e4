"""How a run ends, in the terms of its report (C8). Pure."""

from dataclasses import dataclass
from typing import Literal

from services.kernel.runs import Reason, Status
from services.runner.ending import Cause, Demand

_LONGEST_DETAIL = 2000


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """`exit_code` is a command's own, or null if none ended the run by itself."""

    status: Literal[Status.PASSED, Status.FAILED, Status.CANCELED]
    reason: Reason | None = None
    detail: str | None = None
    exit_code: int | None = None


PASSED = Outcome(status=Status.PASSED, exit_code=0)


def failed(reason: Reason, detail: str, *, exit_code: int | None = None) -> Outcome:
    """A failure, told in one printable line."""
    line = "".join(sign if sign.isprintable() else " " for sign in detail)
    return Outcome(status=Status.FAILED, reason=reason, detail=line[:_LONGEST_DETAIL], exit_code=exit_code)


def step_failed(name: str, exit_code: int) -> Outcome:
    """A command that ended by itself, but not with 0."""
    return failed(Reason.STEP_FAILED, f"step {name!r} ended with exit code {exit_code}", exit_code=exit_code)


def demanded(demand: Demand) -> Outcome | None:
    """How a run ends that had to; None if it is not ours to say."""
    match demand.cause:
        case Cause.CANCELED:
            return Outcome(status=Status.CANCELED)
        case Cause.TIMED_OUT:
            return failed(Reason.TIMED_OUT, demand.detail or "the run took too long")
        case Cause.TERMINATED:
            return failed(Reason.RUNNER_TERMINATED, "the runner was shut down")
        case Cause.LOST:
            return None
