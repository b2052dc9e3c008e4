"""The task queue's server: takes a task, and answers once it is on disk."""

from collections.abc import Awaitable, Callable
from datetime import timedelta

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from services.kernel.adapters.local_tasks import ENQUEUE
from services.kernel.adapters.task_message import TaskMessage
from services.kernel.errors import AnvilError, Invalid
from services.kernel.ports import Clock
from services.kernel.web.body import read_body
from services.kernel.web.parsing import parse_json
from services.kernel.web.problems import problem
from services.local.pump import Pump

LARGEST_TASK = 1_000_000
"""Bytes; Cloud Tasks takes no more either."""

FARTHEST = timedelta(days=30)
BODY_WITHIN = timedelta(seconds=10)

Admit = Callable[[Request], Awaitable[None]]
"""Raises `Unauthenticated` or `Forbidden` for a caller who may not enqueue."""


def application(pump: Pump, *, admit: Admit, clock: Clock) -> Starlette:
    async def enqueue(request: Request) -> Response:
        try:
            await admit(request)
            await pump.enqueue(await _message(request, clock))
        except AnvilError as error:
            return problem(error)
        return JSONResponse({}, status_code=ENQUEUE.status)

    return Starlette(routes=[Route(ENQUEUE.path, enqueue, methods=[ENQUEUE.method])])


async def _message(request: Request, clock: Clock) -> TaskMessage:
    """The task, if Cloud Tasks would take it too."""
    body = await read_body(request, limit=LARGEST_TASK, within=BODY_WITHIN, clock=clock)
    message = parse_json(ENQUEUE.request, body, request.headers)
    if message.not_before is not None and message.not_before > clock.now() + FARTHEST:
        raise Invalid(f"The task is due in more than {FARTHEST.days} days.")
    return message
