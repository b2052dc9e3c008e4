"""Cloud Tasks, played over gRPC, with faults that can be switched. `services.local.doubles.cloud` is its process."""

from collections import deque
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import timedelta

import grpc.aio
import httpx2
from google.cloud.tasks_v2 import CreateTaskRequest
from google.cloud.tasks_v2 import Task as CloudTask
from grpc import StatusCode

from services.kernel.ports import Clock
from services.local.doubles.dispatch import TASKS, DispatchQueue, Limits, Refused, Sign


@dataclass(slots=True)
class Faults:
    """The next creates are answered with `refusals` and change nothing. After them, `lost_answers` more take effect and
    are answered UNAVAILABLE. Every answer waits for `delay`."""

    refusals: deque[StatusCode] = field(default_factory=deque[StatusCode])
    lost_answers: int = 0
    delay: timedelta = timedelta()


class CloudTasksDouble:
    """These queues, by full resource name, at `address` (`host:port`) while it is started."""

    def __init__(
        self, queues: Mapping[str, Limits], *, http: httpx2.AsyncClient, sign: Sign, clock: Clock, port: int = 0
    ) -> None:
        self.faults = Faults()
        self.created: list[CloudTask] = []
        self.queues = {
            name: DispatchQueue(name, limits, http=http, sign=sign, clock=clock) for name, limits in queues.items()
        }
        self._clock = clock
        self._port = port
        self._server = grpc.aio.server()

    @property
    def address(self) -> str:
        return f"127.0.0.1:{self._port}"

    async def start(self) -> None:
        self._server = grpc.aio.server(options=[("grpc.so_reuseport", 0)])
        create = grpc.unary_unary_rpc_method_handler(
            self._create, request_deserializer=CreateTaskRequest.deserialize, response_serializer=TASKS.serialize
        )
        self._server.add_registered_method_handlers("google.cloud.tasks.v2.CloudTasks", {"CreateTask": create})
        self._port = self._server.add_insecure_port(self.address)
        await self._server.start()
        for queue in self.queues.values():
            queue.start()

    async def stop(self) -> None:
        await self._server.stop(None)
        for queue in self.queues.values():
            await queue.stop()

    async def _create(
        self, request: CreateTaskRequest, context: grpc.aio.ServicerContext[CreateTaskRequest, CloudTask]
    ) -> CloudTask:
        try:
            self._take(request)
        except Refused as refused:
            await self._clock.sleep(self.faults.delay)
            await context.abort(refused.status, refused.message)
        await self._clock.sleep(self.faults.delay)
        return request.task

    def _take(self, request: CreateTaskRequest) -> None:
        if self.faults.refusals:
            raise Refused(self.faults.refusals.popleft(), "refused for the test")
        if (queue := self.queues.get(request.parent)) is None:
            raise Refused(StatusCode.NOT_FOUND, "Queue does not exist.")
        queue.take(request.task)
        self.created.append(request.task)
        if self.faults.lost_answers:
            self.faults.lost_answers -= 1
            raise Refused(StatusCode.UNAVAILABLE, "the answer was lost")


@asynccontextmanager
async def running(double: CloudTasksDouble) -> AsyncGenerator[CloudTasksDouble]:
    await double.start()
    try:
        yield double
    finally:
        await double.stop()
