"""A queue of Cloud Tasks: what it takes, and how it delivers. What is written here is what Google documents of it.

Apart from the local stack's pump on purpose: a task brings its own URL, headers, token and deadline here, and two
queues that pass one contract tell more about it than one queue with two faces.
"""

import asyncio
import re
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from random import Random
from typing import Protocol, cast
from urllib.parse import urlsplit

import httpx2
from google.cloud.tasks_v2 import HttpMethod
from google.cloud.tasks_v2 import Task as CloudTask
from grpc import StatusCode

from services.kernel.ports import Clock
from services.local.pump import Backoff

LARGEST_TASK = 1024 * 1024
"""Bytes of the whole message."""

LEAST_DEADLINE, USUAL_DEADLINE, MOST_DEADLINE = timedelta(seconds=15), timedelta(minutes=10), timedelta(minutes=30)
FARTHEST = timedelta(days=30)
TOMBSTONE = timedelta(hours=24)


class _Tasks(Protocol):
    """The generated class, with the types that it does not declare."""

    def serialize(self, instance: CloudTask) -> bytes: ...


TASKS = cast("_Tasks", CloudTask)

Sign = Callable[[str, str], Awaitable[str]]
"""An identity token of this e-mail for this audience."""


class Refused(Exception):
    def __init__(self, status: StatusCode, message: str) -> None:
        super().__init__(message)
        self.status = status
        self.message = message


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """`patience` ends a delivery sooner than its own deadline does, which is 15 s at least."""

    concurrency: int = 1000
    backoff: Backoff = field(default_factory=Backoff)
    patience: timedelta = MOST_DEADLINE


@dataclass(frozen=True, slots=True, kw_only=True)
class Disorder:
    """What at least once and in no order allow: a delivery comes up to `late` later than it could, so that others
    overtake it, and the share `twice` of them comes once more, before or after its answer."""

    random: Random
    late: timedelta
    twice: float

    def delay(self) -> timedelta:
        return self.late * self.random.random()

    def repeats(self) -> bool:
        return self.random.random() < self.twice


IN_ORDER = Disorder(random=Random(0), late=timedelta(), twice=0)


@dataclass(slots=True, kw_only=True)
class _Waiting:
    """`attempts` and `executions` are those that were not acknowledged; an execution is one that had another answer
    than 5xx."""

    task: CloudTask
    due: datetime
    attempts: int = 0
    executions: int = 0
    answer: int | None = None

    def not_acknowledged(self, answer: int | None, *, again: datetime) -> None:
        self.attempts += 1
        self.executions += answer is not None and answer < 500
        self.answer = answer
        self.due = again


class DispatchQueue:
    """Takes tasks at any time and delivers them while it is started; what is not acknowledged outlives a stop."""

    def __init__(self, name: str, limits: Limits, *, http: httpx2.AsyncClient, sign: Sign, clock: Clock) -> None:
        self.limits = limits
        self.disorder = IN_ORDER
        self._name = name
        self._http = http
        self._sign = sign
        self._clock = clock
        self._waiting: dict[str, _Waiting] = {}
        self._tombstones: dict[str, datetime] = {}
        self._places = asyncio.Semaphore(0)
        self._deliveries: dict[str, asyncio.Task[None]] = {}
        self._repeated: set[asyncio.Task[None]] = set()
        self._started = False

    def take(self, task: CloudTask) -> None:
        """
        Raises:
            Refused: as Cloud Tasks would.
        """
        now = self._clock.now()
        _check(task, queue=self._name, now=now)
        self._tombstones = {name: until for name, until in self._tombstones.items() if until > now}
        if task.name in self._waiting:
            raise Refused(StatusCode.ALREADY_EXISTS, "Requested entity already exists")
        if task.name in self._tombstones:
            raise Refused(StatusCode.ALREADY_EXISTS, "A task with this name existed too recently.")
        self._waiting[task.name] = _Waiting(task=task, due=max(now, _schedule(task) or now))
        if self._started:
            self._deliver_in_time(task.name)

    def start(self) -> None:
        self._started = True
        self._places = asyncio.Semaphore(self.limits.concurrency)
        for name in self._waiting:
            self._deliver_in_time(name)

    async def stop(self) -> None:
        self._started = False
        deliveries = [*self._deliveries.values(), *self._repeated]
        for delivery in deliveries:
            delivery.cancel()
        await asyncio.gather(*deliveries, return_exceptions=True)
        self._deliveries.clear()

    def _deliver_in_time(self, name: str) -> None:
        self._deliveries[name] = asyncio.create_task(self._deliver(self._waiting[name]))

    async def _deliver(self, waiting: _Waiting) -> None:
        name = waiting.task.name
        while True:
            await self._clock.sleep(max(timedelta(), waiting.due - self._clock.now()) + self.disorder.delay())
            if self.disorder.repeats():
                self._deliver_once_more(waiting)
            async with self._places:
                answer = await self._post(waiting)
            if answer is not None and 200 <= answer < 300:
                break
            again = self._clock.now() + self.limits.backoff.after(waiting.attempts + 1)
            waiting.not_acknowledged(answer, again=again)
        del self._waiting[name], self._deliveries[name]
        self._tombstones[name] = self._clock.now() + TOMBSTONE

    def _deliver_once_more(self, waiting: _Waiting) -> None:
        async def deliver() -> None:
            await self._clock.sleep(self.disorder.delay())
            async with self._places:
                await self._post(waiting)

        repeated = asyncio.create_task(deliver())
        self._repeated.add(repeated)
        repeated.add_done_callback(self._repeated.discard)

    async def _post(self, waiting: _Waiting) -> int | None:
        """The status that the target answered with; None if it gave none within the delivery's deadline."""
        request = waiting.task.http_request
        within = min(self.limits.patience, _deadline(waiting.task) or USUAL_DEADLINE)
        try:
            async with asyncio.timeout(within.total_seconds()):
                answer = await self._http.request(
                    HttpMethod(request.http_method).name,
                    request.url,
                    content=request.body,
                    headers={**request.headers, **self._headers(waiting), **await self._authorization(waiting.task)},
                    timeout=None,
                )
        except (httpx2.TransportError, TimeoutError):
            return None
        return answer.status_code

    def _headers(self, waiting: _Waiting) -> dict[str, str]:
        answer = {} if waiting.answer is None else {"X-CloudTasks-TaskPreviousResponse": str(waiting.answer)}
        return {
            "User-Agent": "Google-Cloud-Tasks",
            "X-CloudTasks-QueueName": _last(self._name),
            "X-CloudTasks-TaskName": _last(waiting.task.name),
            "X-CloudTasks-TaskRetryCount": str(waiting.attempts),
            "X-CloudTasks-TaskExecutionCount": str(waiting.executions),
            "X-CloudTasks-TaskETA": f"{waiting.due.timestamp():.6f}",
            **answer,
        }

    async def _authorization(self, task: CloudTask) -> dict[str, str]:
        """One header and no other: at a service that only its invokers reach, the token arrives without signature."""
        token = task.http_request.oidc_token
        if not token.service_account_email:
            return {}
        return {"Authorization": f"Bearer {await self._sign(token.service_account_email, _audience(task))}"}


def _check(task: CloudTask, *, queue: str, now: datetime) -> None:
    if len(TASKS.serialize(task)) > LARGEST_TASK:
        raise Refused(StatusCode.INVALID_ARGUMENT, "Task size too large")
    if not re.fullmatch(re.escape(queue) + "/tasks/[A-Za-z0-9_-]{1,500}", task.name):
        raise Refused(StatusCode.INVALID_ARGUMENT, "Task.name is malformed")
    if urlsplit(task.http_request.url).scheme not in ("http", "https"):
        raise Refused(StatusCode.INVALID_ARGUMENT, "HttpRequest.url is malformed")
    within = _deadline(task)
    if within is not None and not LEAST_DEADLINE <= within <= MOST_DEADLINE:
        raise Refused(StatusCode.INVALID_ARGUMENT, "Task.dispatchDeadline must be between [15s, 30m]")
    due = _schedule(task)
    if due is not None and due > now + FARTHEST:
        raise Refused(StatusCode.INVALID_ARGUMENT, "Task.scheduleTime too far in the future")


def _schedule(task: CloudTask) -> datetime | None:
    return cast("datetime", task.schedule_time) if "schedule_time" in task else None


def _deadline(task: CloudTask) -> timedelta | None:
    return cast("timedelta", task.dispatch_deadline) if "dispatch_deadline" in task else None


def _audience(task: CloudTask) -> str:
    return task.http_request.oidc_token.audience or task.http_request.url


def _last(name: str) -> str:
    return name.rpartition("/")[2]
