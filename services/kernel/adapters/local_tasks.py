"""The local stack's task queue, as its clients see it: one POST a task to the queue's server."""

from datetime import timedelta
from http import HTTPStatus
from typing import Annotated

import httpx2
from pydantic import AwareDatetime, Field, JsonValue, ValidationError

from services.kernel.errors import Ambiguous, TaskRejected, Unavailable
from services.kernel.ports import Minter, Target, Task
from services.kernel.wire.model import Wire

ENQUEUE_PATH = "/queue/tasks"
LONGEST_WAIT = timedelta(seconds=1)

_NOT_TAKEN = frozenset(
    {HTTPStatus.REQUEST_TIMEOUT, HTTPStatus.TOO_MANY_REQUESTS, HTTPStatus.BAD_GATEWAY, HTTPStatus.SERVICE_UNAVAILABLE}
)


class TaskMessage(Wire):
    """A task on its way to the queue. Names are as Cloud Tasks takes them."""

    target: Target
    path: Annotated[str, Field(pattern=r"^/[!-~]*$", max_length=2000)]
    body: dict[str, JsonValue]
    name: Annotated[str, Field(pattern=r"^[A-Za-z0-9_-]{1,500}$")]
    not_before: AwareDatetime | None = None
    trace: Annotated[str, Field(pattern=r"^[!-~]{1,200}$")] | None = None


class LocalTasks:
    """`kernel.ports.TaskQueue` over HTTP; `url` is the queue server's, `audience` what its tokens are for."""

    def __init__(
        self,
        client: httpx2.AsyncClient,
        url: str,
        *,
        minter: Minter,
        audience: str,
        wait: timedelta = LONGEST_WAIT,
    ) -> None:
        self._client = client
        self._url = url.rstrip("/") + ENQUEUE_PATH
        self._minter = minter
        self._audience = audience
        self._wait = wait.total_seconds()

    async def enqueue(self, task: Task) -> None:
        message = _message(task)
        token = await self._minter.mint(self._audience)
        headers = {"Authorization": f"Bearer {token.value}", "Content-Type": "application/json"}
        try:
            response = await self._client.post(
                self._url, content=message.model_dump_json(), headers=headers, timeout=self._wait
            )
        except (httpx2.ConnectError, httpx2.ConnectTimeout, httpx2.PoolTimeout) as error:
            raise Unavailable(f"The task queue cannot be reached for {task.name}.") from error
        except httpx2.TransportError as error:
            raise Ambiguous(f"The task queue did not answer for {task.name}.") from error
        _require_taken(task, response)


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


def _require_taken(task: Task, response: httpx2.Response) -> None:
    status = response.status_code
    if response.is_success:
        return
    if status in _NOT_TAKEN:
        raise Unavailable(f"The task queue does not take {task.name} now ({status}).")
    if response.is_client_error:
        raise TaskRejected(f"The task queue refuses {task.name} ({status}).")
    raise Ambiguous(f"The task queue failed at {task.name} ({status}).")
