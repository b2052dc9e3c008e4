"""Cloud Tasks as the task queue.

A task is created under its name, so a create whose answer was lost is sent again: that the name is taken then is the
success. The client library retries no create by itself, and its timeout bounds one try, not the call.
"""

import asyncio
from collections.abc import Awaitable, Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, Protocol, cast

import google.auth
import grpc.aio
from google.api_core import exceptions
from google.auth.exceptions import GoogleAuthError
from google.cloud.tasks_v2 import CloudTasksAsyncClient, CreateTaskRequest, HttpMethod, HttpRequest, OidcToken
from google.cloud.tasks_v2 import Task as CloudTask
from google.cloud.tasks_v2.services.cloud_tasks.transports import CloudTasksGrpcAsyncIOTransport
from pydantic_core import to_json

from services.kernel import deadline, trace
from services.kernel.adapters.task_message import TaskMessage, message
from services.kernel.errors import Ambiguous, TaskRejected, Unavailable
from services.kernel.ports import Clock, Target, Task

WITHIN = timedelta(seconds=1)
DISPATCH_WITHIN: Mapping[Target, timedelta] = {
    Target.COORDINATOR: timedelta(seconds=60),
    Target.RUNNER: timedelta(minutes=30),
}
"""How long a delivery may take before it is made again. A run lasts as long as its delivery, and 30 min is the most."""

_TRIES = 2
"""How many tries that get no answer the time is enough for; those that fail at once are repeated until it is over."""

_FIRST_PAUSE = timedelta(milliseconds=50)
_OPTIONS = (
    # An instance that was frozen between two requests finds out that its connection is gone.
    ("grpc.keepalive_time_ms", 30_000),
    # A queue that was away is found again within a second, not after gRPC's two minutes.
    ("grpc.initial_reconnect_backoff_ms", 100),
    ("grpc.min_reconnect_backoff_ms", 1000),
    ("grpc.max_reconnect_backoff_ms", 1000),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Lane:
    """Where a target's tasks wait, where they are delivered, and as whom.

    `queue` is a full resource name; identity tokens are the service account's (its e-mail) and made out to `audience`.
    """

    queue: str
    base_url: str
    audience: str
    service_account: str


class Api(Protocol):
    """What is used of the generated client."""

    def create_task(self, request: CreateTaskRequest, *, retry: None, timeout: float) -> Awaitable[CloudTask]: ...


@dataclass(frozen=True, slots=True)
class _Connection:
    api: Api
    channel: grpc.aio.Channel


class CloudTasks:
    """Implements `ports.TaskQueue`. Belongs to the event loop that first uses it, which is where it connects."""

    def __init__(
        self, lanes: Mapping[Target, Lane], *, clock: Clock, emulator: str | None = None, within: timedelta = WITHIN
    ) -> None:
        """`emulator` is the `host:port` of something that plays Cloud Tasks, spoken to in the clear."""
        self._lanes = lanes
        self._clock = clock
        self._emulator = emulator
        self._within = within
        self._connection: _Connection | None = None
        self._connecting = asyncio.Lock()

    async def enqueue(self, task: Task) -> None:
        request = _request(self._lanes[task.target], message(task))
        async with deadline.within(self._clock, at_most=self._within) as duration:
            await self._create(request, each=duration / _TRIES)

    async def close(self) -> None:
        connection, self._connection = self._connection, None
        if connection is not None:
            await connection.channel.close()

    async def _create(self, request: CreateTaskRequest, *, each: timedelta) -> None:
        """Send it until the queue has said something about it, or the deadline interrupts."""
        api = (await self._connected()).api
        pause, unanswered = _FIRST_PAUSE, False
        while True:
            try:
                await api.create_task(request, retry=None, timeout=each.total_seconds())
            except exceptions.AlreadyExists:
                return
            except exceptions.GoogleAPICallError as error:
                _unless_it_may_help_to_ask_again(error, request.task.name, unanswered=unanswered)
            else:
                return
            unanswered = True
            await self._clock.sleep(pause)
            pause *= 2

    async def _connected(self) -> _Connection:
        async with self._connecting:
            if self._connection is None:
                channel = await _channel(self._emulator)
                client = CloudTasksAsyncClient(transport=CloudTasksGrpcAsyncIOTransport(channel=channel))
                self._connection = _Connection(client, channel)
            return self._connection


async def _channel(emulator: str | None) -> grpc.aio.Channel:
    if emulator is not None:
        return grpc.aio.insecure_channel(emulator, options=_OPTIONS)
    transport = cast("Any", CloudTasksGrpcAsyncIOTransport)
    try:
        # It reads files and asks the metadata server, and there is none that does not block.
        credentials, _ = await asyncio.to_thread(cast("Any", google.auth).default, scopes=transport.AUTH_SCOPES)
    except GoogleAuthError as error:
        raise Unavailable("There are no credentials for Cloud Tasks.") from error
    channel: grpc.aio.Channel = transport.create_channel(credentials=credentials, options=_OPTIONS)
    return channel


def _request(lane: Lane, task: TaskMessage) -> CreateTaskRequest:
    return CreateTaskRequest(
        parent=lane.queue,
        task=CloudTask(
            name=f"{lane.queue}/tasks/{task.name}",
            http_request=HttpRequest(
                url=lane.base_url.rstrip("/") + task.path,
                http_method=HttpMethod.POST,
                headers=_headers(task),
                body=to_json(task.body),
                oidc_token=OidcToken(service_account_email=lane.service_account, audience=lane.audience),
            ),
            schedule_time=task.not_before,
            dispatch_deadline=DISPATCH_WITHIN[task.target],
        ),
    )


def _headers(task: TaskMessage) -> dict[str, str]:
    """Cloud Tasks sets no content type."""
    return {"Content-Type": "application/json", **({trace.TRACEPARENT: task.trace} if task.trace else {})}


def _unless_it_may_help_to_ask_again(error: exceptions.GoogleAPICallError, name: str, *, unanswered: bool) -> None:
    """
    Raises:
        TaskRejected: the queue refuses the task as it is.
        Unavailable: it took nothing and wants to be left alone.
        Ambiguous: so it does, but an earlier try was `unanswered`.
    """
    match error:
        case (
            exceptions.InvalidArgument()
            | exceptions.PermissionDenied()
            | exceptions.NotFound()
            | exceptions.FailedPrecondition()
        ):
            raise TaskRejected(f"Cloud Tasks refuses {name}: {error.message}") from error
        case exceptions.ResourceExhausted() | exceptions.Unauthenticated():
            kind = Ambiguous if unanswered else Unavailable
            raise kind(f"Cloud Tasks takes nothing now: {error.message}") from error
        case _:
            return
