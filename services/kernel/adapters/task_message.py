"""A task as every queue takes it: named and dated as Cloud Tasks wants it; its path makes a URL, its trace a header."""

from typing import Annotated

from pydantic import AwareDatetime, Field, JsonValue, ValidationError

from services.kernel.errors import TaskRejected
from services.kernel.ports import Target, Task
from services.kernel.wire.model import Wire


class TaskMessage(Wire):
    """A task on its way to a queue."""

    target: Target
    path: Annotated[str, Field(pattern=r"^/[!-~]*$", max_length=2000)]
    body: dict[str, JsonValue]
    name: Annotated[str, Field(pattern=r"^[A-Za-z0-9_-]{1,500}$")]
    not_before: AwareDatetime | None = None
    trace: Annotated[str, Field(pattern=r"^[!-~]{1,200}$")] | None = None


def message(task: Task) -> TaskMessage:
    """
    Raises:
        TaskRejected: no queue would take it.
    """
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
