"""The task queues that the contract is asked of. Their waits between attempts are 0.1, 0.2, 0.4, 0.4, … seconds."""

import asyncio
from collections.abc import AsyncGenerator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Protocol
from urllib.parse import urlsplit

import httpx2
from starlette.requests import Request

from services.kernel.adapters.clock import SystemClock
from services.kernel.adapters.cloud_tasks import CloudTasks, Lane
from services.kernel.adapters.local_tasks import LocalTasks
from services.kernel.client import Client
from services.kernel.errors import Forbidden
from services.kernel.ports import IdentityToken, Target, TaskQueue
from services.local.doubles.cloud_tasks import CloudTasksDouble, running
from services.local.doubles.dispatch import Limits
from services.local.pump import Backoff, Destination, Pump, coordinator, runners
from services.local.queue import application
from services.local.task_table import TaskTable
from tests.contract.serving import served

CALLER = "coordinator"
BACKOFF = Backoff(least=timedelta(seconds=0.1), most=timedelta(seconds=0.4))
QUEUES = {target: f"projects/p/locations/l/queues/{target}" for target in Target}


class Queue(Protocol):
    """A queue that runs, delivering to the receivers it was made for."""

    @property
    def client(self) -> TaskQueue: ...

    async def restart(self, **deadlines: timedelta) -> None:
        """Kill the queue in the middle of whatever it does, and start it again."""
        ...


class Tokens:
    """Tokens that say whose they are and what for."""

    def __init__(self, owner: str) -> None:
        self._owner = owner

    async def mint(self, audience: str) -> IdentityToken:
        return IdentityToken(f"{self._owner}-for-{audience}", datetime(2100, 1, 1, tzinfo=UTC))


async def admit(request: Request) -> None:
    if request.headers.get("Authorization") != f"Bearer {CALLER}-for-queue":
        raise Forbidden


def client_of(http: httpx2.AsyncClient, url: str, *, name: str = CALLER) -> Client:
    """What `name` calls the queue's server at `url` with."""
    return Client(http, base_url=url, audience="queue", minter=Tokens(name), clock=SystemClock())


class LocalQueue:
    def __init__(self, path: Path, destinations: Mapping[Target, Destination], *, http: httpx2.AsyncClient) -> None:
        self._path = path
        self._destinations = dict(destinations)
        self._http = http
        self._running = AsyncExitStack()
        self.url = "http://127.0.0.1:0"

    @property
    def client(self) -> LocalTasks:
        return self.caller(CALLER)

    def caller(self, name: str) -> LocalTasks:
        return LocalTasks(client_of(self._http, self.url, name=name))

    async def start(self) -> None:
        executor = self._running.enter_context(ThreadPoolExecutor(2))
        table = TaskTable(self._path, executor=executor)
        self._running.callback(table.close)
        clock = SystemClock()
        pump = Pump(table, self._destinations, client=self._http, minter=Tokens("tasks"), clock=clock, backoff=BACKOFF)
        await self._running.enter_async_context(_pumping(pump))
        app = application(pump, admit=admit, clock=clock)
        (self.url,) = await self._running.enter_async_context(served(app, port=urlsplit(self.url).port or 0))

    async def stop(self) -> None:
        await self._running.aclose()

    async def restart(self, **deadlines: timedelta) -> None:
        await self.stop()
        for target, deadline in deadlines.items():
            self._destinations[Target(target)] = replace(self._destinations[Target(target)], deadline=deadline)
        await self.start()


@asynccontextmanager
async def _pumping(pump: Pump) -> AsyncGenerator[None]:
    running = asyncio.create_task(pump.run())
    try:
        yield
    finally:
        running.cancel()
        with suppress(asyncio.CancelledError):
            await running


@asynccontextmanager
async def local_queue(path: Path, receivers: Mapping[Target, str]) -> AsyncGenerator[LocalQueue]:
    """The local stack's queue, with one runner and the coordinator."""
    destinations = {
        Target.COORDINATOR: coordinator(receivers[Target.COORDINATOR], "the-coordinator"),
        Target.RUNNER: runners(receivers[Target.RUNNER], "the-runner", count=1),
    }
    async with httpx2.AsyncClient(trust_env=False) as http:
        queue = LocalQueue(path, destinations, http=http)
        await queue.start()
        try:
            yield queue
        finally:
            await queue.stop()


class CloudQueue:
    """Cloud Tasks played by a double, with a queue for each target."""

    def __init__(self, double: CloudTasksDouble, client: CloudTasks) -> None:
        self.double = double
        self.client = client

    async def restart(self, **deadlines: timedelta) -> None:
        await self.double.stop()
        for target, deadline in deadlines.items():
            queue = self.double.queues[QUEUES[Target(target)]]
            queue.limits = replace(queue.limits, patience=deadline)
        await self.double.start()


@asynccontextmanager
async def cloud_queue(receivers: Mapping[Target, str]) -> AsyncGenerator[CloudQueue]:
    """As a deployment has it: one dispatch at a time for its one runner, eight for the coordinator."""
    limits = {
        QUEUES[Target.COORDINATOR]: Limits(concurrency=8, backoff=BACKOFF),
        QUEUES[Target.RUNNER]: Limits(concurrency=1, backoff=BACKOFF),
    }
    async with httpx2.AsyncClient(trust_env=False) as http:
        double = CloudTasksDouble(limits, http=http, sign=_sign, clock=SystemClock())
        async with running(double):
            tasks = CloudTasks(lanes(receivers), clock=SystemClock(), emulator=double.address)
            try:
                yield CloudQueue(double, tasks)
            finally:
                await tasks.close()


def lanes(receivers: Mapping[Target, str]) -> dict[Target, Lane]:
    return {
        target: Lane(queue=QUEUES[target], base_url=url, audience=f"the-{target}", service_account="tasks")
        for target, url in receivers.items()
    }


async def _sign(email: str, audience: str) -> str:
    return (await Tokens(email).mint(audience)).value
