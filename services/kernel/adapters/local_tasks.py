"""The local stack's task queue, as its clients see it: one POST a task to the queue's server."""

from datetime import timedelta

from services.kernel.adapters.task_message import TaskMessage, message
from services.kernel.client import Client
from services.kernel.endpoint import Audience, Endpoint
from services.kernel.errors import Permanent, TaskRejected
from services.kernel.ports import Task
from services.kernel.wire.model import Empty

WITHIN = timedelta(seconds=1)

ENQUEUE = Endpoint(
    method="POST",
    path="/queue/tasks",
    summary="Take one task.",
    request=TaskMessage,
    response=Empty,
    audience=Audience.TASKS,
    status=202,
)


class LocalTasks:
    """`kernel.ports.TaskQueue` over HTTP; `client` calls the queue's server."""

    def __init__(self, client: Client, *, within: timedelta = WITHIN) -> None:
        self._client = client
        self._within = within

    async def enqueue(self, task: Task) -> None:
        try:
            await self._client.call(ENQUEUE, body=message(task), within=self._within)
        except Permanent as error:
            raise TaskRejected(f"The task queue refuses {task.name[:80]!r}: {error.detail}") from error
