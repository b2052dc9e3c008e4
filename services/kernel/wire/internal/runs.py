"""Runs as people ask for them, through the console."""

from services.kernel.endpoint import Audience, Endpoint
from services.kernel.errors import IdempotencyKeyReused, NotFound, NotRerunnable, QueueFull
from services.kernel.wire import runs
from services.kernel.wire.model import Empty, Page, PageQuery, Wire


class LogQuery(Wire):
    """A run's log from byte `after` on."""

    after: int = 0


ACCEPT_RUN = Endpoint(
    method="POST",
    path="/v1/projects/{project}:acceptRun",
    summary="Queue a manual run or a rerun",
    request=runs.AcceptRun,
    response=runs.RunAccepted,
    audience=Audience.CONSOLE,
    errors=(NotFound, QueueFull, NotRerunnable, IdempotencyKeyReused),
)
LIST_RUNS = Endpoint(
    method="GET",
    path="/v1/projects/{project}/runs",
    summary="A project's runs, newest first",
    request=PageQuery,
    response=Page[runs.Run],
    audience=Audience.CONSOLE,
    errors=(NotFound,),
)
GET_RUN = Endpoint(
    method="GET",
    path="/v1/runs/{run}",
    summary="One run with its steps and the end of its log",
    request=Empty,
    response=runs.RunView,
    audience=Audience.CONSOLE,
    errors=(NotFound,),
)
GET_LOG = Endpoint(
    method="GET",
    path="/v1/runs/{run}/log",
    summary="A stretch of a run's log",
    request=LogQuery,
    response=runs.LogPart,
    audience=Audience.CONSOLE,
    errors=(NotFound,),
)
CANCEL_RUN = Endpoint(
    method="POST",
    path="/v1/runs/{run}:cancel",
    summary="Ask for the end of a run",
    request=runs.CancelRun,
    response=runs.RunView,
    audience=Audience.CONSOLE,
    errors=(NotFound,),
)
