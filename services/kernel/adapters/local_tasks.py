"""The local stack's task queue, as its clients see it: one POST a task to the queue's server."""

from datetime import timedelta
from typing import Annotated

from pydantic import AwareDatetime, Field, JsonValue, ValidationError

from services.kernel.client import Client
from services.kernel.endpoint import Audience, Endpoint
from services.kernel.errors import Permanent, TaskRejected
from services.kernel.ports import Target, Task
from services.kernel.wire.model import Empty, Wire

WITHIN = timedelta(seconds=1)


class TaskMessage(Wire):
    """A task on its way to the queue. Names are as Cloud Tasks takes them."""

    target: Target
    path: Annotated[str, Field(pattern=r"^/[!-~]*$", max_length=2000)]
    body: dict[str, JsonValue]
    name: Annotated[str, Field(pattern=r"^[A-Za-z0-9_-]{1,500}$")]
    not_before: AwareDatetime | None = None
    trace: Annotated[str, Field(pattern=r"^[!-~]{1,200}$")] | None = None


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
            await self._client.call(ENQUEUE, body=_message(task), within=self._within)
        except Permanent as error:
            raise TaskRejected(f"The task queue refuses {task.name[:80]!r}: {error.detail}") from error


def _message(task: Task) -> TaskMessage:
    try:
        return TaskMessage.model_validate(
            {
                "target": task.target,
                "path": task.path,
                "body": dict(task.body),
                "name": task.name,
                "not_before": task.not_before,
                "trace": task.trace,
            }
        )
    except ValidationError as error:
        raise TaskRejected(f"{task.name[:80]!r} is not a possible task: {_fields(error)}.") from error


def _fields(error: ValidationError) -> str:
    return ", ".join(sorted({str(problem["loc"][0]) for problem in error.errors()}))
