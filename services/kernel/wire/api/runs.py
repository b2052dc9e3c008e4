"""Runs and their logs."""

from services.kernel.endpoint import Audience, Endpoint
from services.kernel.errors import IdempotencyKeyReused, NotFound, NotRerunnable, QueueFull
from services.kernel.wire import runs
from services.kernel.wire.internal import LogQuery
from services.kernel.wire.model import Empty, Page, PageQuery

LIST_RUNS = Endpoint(
    method="GET",
    path="/api/private/projects/{project}/runs",
    summary="A project's runs, newest first",
    request=PageQuery,
    response=Page[runs.Run],
    audience=Audience.VIEWER,
    errors=(NotFound,),
)
START_RUN = Endpoint(
    method="POST",
    path="/api/private/projects/{project}/runs",
    summary="Queue a run of a branch head",
    request=runs.StartRun,
    response=runs.Started,
    audience=Audience.OPERATOR,
    status=202,
    errors=(NotFound, QueueFull, IdempotencyKeyReused),
    headers=("Idempotency-Key",),
)
GET_RUN = Endpoint(
    method="GET",
    path="/api/private/runs/{run}",
    summary="One run with its steps and the end of its log",
    request=Empty,
    response=runs.RunView,
    audience=Audience.VIEWER,
    errors=(NotFound,),
)
CANCEL_RUN = Endpoint(
    method="POST",
    path="/api/private/runs/{run}/cancel",
    summary="Ask for the end of a run; a finished one is returned unchanged",
    request=Empty,
    response=runs.RunView,
    audience=Audience.OPERATOR,
    errors=(NotFound,),
)
RERUN = Endpoint(
    method="POST",
    path="/api/private/runs/{run}/rerun",
    summary="Queue a finished run again",
    request=Empty,
    response=runs.Started,
    audience=Audience.OPERATOR,
    status=202,
    errors=(NotFound, NotRerunnable, QueueFull, IdempotencyKeyReused),
    headers=("Idempotency-Key",),
)
GET_LOG = Endpoint(
    method="GET",
    path="/api/private/runs/{run}/log",
    summary="The log from a byte offset; X-Log-Cursor says where to go on, X-Log-Complete whether that was all",
    request=LogQuery,
    response=Empty,
    audience=Audience.VIEWER,
    errors=(NotFound,),
    media_type="text/plain",
)
