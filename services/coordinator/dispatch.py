"""Handing executable runs to runners through the task queue. A lost task changes nothing: the run's timer has it."""

from datetime import datetime, timedelta
from enum import Enum, auto

from services.coordinator.records.run import Run
from services.coordinator.rules import dispatch
from services.kernel import deadline, trace
from services.kernel.errors import TaskRejected, Transient
from services.kernel.ids import RunId
from services.kernel.log import get_logger
from services.kernel.ports import Clock, Task, TaskQueue

log = get_logger(__name__)

_ENQUEUE_WITHIN = timedelta(seconds=1)


class Handed(Enum):
    """What the task queue made of a task."""

    TAKEN = auto()
    REJECTED = auto()
    UNANSWERED = auto()


class Dispatcher:
    def __init__(self, tasks: TaskQueue, *, clock: Clock) -> None:
        self._tasks = tasks
        self._clock = clock

    async def hand_over(self, run: Run) -> Handed:
        """Tell a runner that this run is executable; never raises, and takes at most a second."""
        return await self._enqueue(dispatch.hand_over(run, trace=trace.current_header()), run_id=run.run_id)

    async def look_again(self, run_id: RunId, *, at: datetime) -> None:
        """Have the run reconciled at that moment, sooner than the next sweep might."""
        await self._enqueue(dispatch.look_again(run_id, at=at, trace=trace.current_header()), run_id=run_id)

    async def _enqueue(self, task: Task, *, run_id: RunId) -> Handed:
        try:
            async with deadline.within(self._clock, at_most=_ENQUEUE_WITHIN):
                await self._tasks.enqueue(task)
        except TaskRejected as error:
            log.error("the task queue refuses a task", run=run_id, target=task.target, detail=error.detail)
            return Handed.REJECTED
        except Transient as error:
            log.warning("the task queue did not answer", run=run_id, target=task.target, detail=error.detail)
            return Handed.UNANSWERED
        return Handed.TAKEN
