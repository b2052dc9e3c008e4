"""The task queue's server: `POST /queue/tasks` takes one task, and answers once it is on disk."""

from collections.abc import Awaitable, Callable
from datetime import timedelta
from http import HTTPStatus

from pydantic import ValidationError
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from services.kernel.adapters.local_tasks import ENQUEUE_PATH, TaskMessage
from services.kernel.errors import Ambiguous, Forbidden, Unauthenticated, Unavailable
from services.kernel.ports import Clock
from services.local.pump import Pump

LARGEST_TASK = 1_000_000
"""Bytes; Cloud Tasks takes no more either."""

FARTHEST = timedelta(days=30)

Admit = Callable[[Request], Awaitable[None]]
"""Raises `Unauthenticated` or `Forbidden` for a caller who may not enqueue."""


def application(pump: Pump, *, admit: Admit, clock: Clock) -> Starlette:
    async def enqueue(request: Request) -> Response:
        try:
            await admit(request)
            await pump.enqueue(_message(await request.body(), clock=clock))
        except Unauthenticated as error:
            return _problem(HTTPStatus.UNAUTHORIZED, error)
        except Forbidden as error:
            return _problem(HTTPStatus.FORBIDDEN, error)
        except ValueError as error:
            return _problem(HTTPStatus.BAD_REQUEST, error)
        except Unavailable as error:
            return _problem(HTTPStatus.SERVICE_UNAVAILABLE, error)
        except Ambiguous as error:
            return _problem(HTTPStatus.INTERNAL_SERVER_ERROR, error)
        return JSONResponse({}, status_code=HTTPStatus.ACCEPTED)

    return Starlette(routes=[Route(ENQUEUE_PATH, enqueue, methods=["POST"])])


def _message(raw: bytes, *, clock: Clock) -> TaskMessage:
    """The task, if Cloud Tasks would take it too."""
    if len(raw) > LARGEST_TASK:
        raise ValueError(f"The task has {len(raw)} bytes; at most {LARGEST_TASK} are taken.")
    try:
        message = TaskMessage.model_validate_json(raw)
    except ValidationError as error:
        raise ValueError(f"The task has {error.error_count()} faults.") from error
    if message.not_before is not None and message.not_before > clock.now() + FARTHEST:
        raise ValueError(f"The task is due in more than {FARTHEST.days} days.")
    return message


def _problem(status: HTTPStatus, error: Exception) -> Response:
    return JSONResponse({"title": status.phrase, "detail": str(error)}, status_code=status)
