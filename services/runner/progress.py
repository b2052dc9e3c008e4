"""How far a run's steps are, for people."""

from datetime import datetime
from typing import Literal

from services.kernel.wire.runs import StepStatus

Halt = Literal["failed", "canceled"]


class Progress:
    """One status for each step; empty until the pipeline is known."""

    def __init__(self) -> None:
        self._steps: tuple[StepStatus, ...] = ()

    @property
    def steps(self) -> tuple[StepStatus, ...]:
        return self._steps

    def plan(self, names: tuple[str, ...]) -> None:
        self._steps = tuple(StepStatus(name=name, status="pending") for name in names)

    def begin(self, index: int, *, at: datetime) -> None:
        self._change(index, StepStatus(name=self._steps[index].name, status="running", started_at=at))

    def end(self, index: int, *, exit_code: int, at: datetime) -> None:
        """The step ended by itself."""
        ended = {"status": "passed" if exit_code == 0 else "failed", "exit_code": exit_code, "finished_at": at}
        self._change(index, self._steps[index].model_copy(update=ended))

    def halt(self, how: Halt, *, at: datetime) -> None:
        """No step goes on: a running one ends like this, and what has not begun never will."""
        self._steps = tuple(_halted(step, how, at) for step in self._steps)

    def _change(self, index: int, step: StepStatus) -> None:
        self._steps = (*self._steps[:index], step, *self._steps[index + 1 :])


def _halted(step: StepStatus, how: Halt, at: datetime) -> StepStatus:
    match step.status:
        case "running":
            return step.model_copy(update={"status": how, "finished_at": at})
        case "pending":
            return step.model_copy(update={"status": "skipped"})
        case _:
            return step
