"""One process of the production runner, as `services.runner.main` starts it but for what is outside."""

import asyncio
from collections.abc import Coroutine, Generator
from contextlib import AbstractAsyncContextManager
from contextvars import Context, ContextVar
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import httpx2
from starlette.types import Receive, Scope, Send

from services.kernel.client import Client
from services.kernel.errors import AnvilError
from services.kernel.ports import Task
from services.kernel.wire import internal
from services.kernel.wire.runs import RunTask
from services.runner.app import World, create
from services.runner.settings import RunnerSettings
from tests.simulation.node import Identity
from tests.simulation.ports import Life
from tests.simulation.runner_service.line import Port
from tests.simulation.runner_service.said import Telephone
from tests.simulation.runner_service.sandbox import PlayedSandbox
from tests.simulation.runner_service.time import apart
from tests.simulation.wire import Wire
from tests.unit.coordinator import callers

if TYPE_CHECKING:
    from tests.simulation.runner_service.stage import Stage

Answer = TypeVar("Answer")

OWNER: ContextVar["RunnerProcess | None"] = ContextVar("owner", default=None)

_A_DAY = timedelta(days=1)


class OwnTime:
    """Implements `Clock`: the time of all, but a process that is stopped does not wake, and a dead one never."""

    def __init__(self, process: "RunnerProcess") -> None:
        self._process = process
        self.now = process.stage.clock.now
        self.elapsed = process.stage.clock.elapsed

    async def sleep(self, duration: timedelta) -> None:
        await self._process.stage.clock.sleep(duration)
        await self._process.life.passes()


class RunnerProcess:
    """`run` is what it was handed last; `handing` is done once a task was answered. It serves from its creation on."""

    def __init__(self, stage: "Stage", directory: Path) -> None:
        self.stage = stage
        self.life = Life()
        self.run = ""
        self.directory = directory
        self.sandbox = PlayedSandbox(self, directory)
        self.tasks: set[asyncio.Future[Any]] = set()
        self.handing: asyncio.Task[None] | None = None
        self._serving = asyncio.Event()
        self._leaving = asyncio.Event()
        clock = OwnTime(self)
        world = World(
            http=httpx2.AsyncClient(transport=Telephone(self)),
            minter=Identity(stage.issuer, callers.RUNNER, clock),
            keys=stage.issuer.keys,
            sandbox=self.sandbox,
            clock=clock,
            ids=stage.world.ids,
        )
        self._app = create(_settings(directory), world)
        self._living = self._own(self._live())

    @property
    def busy(self) -> bool:
        return self.handing is not None and not self.handing.done()

    @property
    def over(self) -> bool:
        return self.life.ended or self._living.done()

    def around(self, port: Port, name: str) -> AbstractAsyncContextManager[None]:
        return self.stage.line.around(port, name, self)

    def hand(self, task: Task) -> None:
        """A task is delivered; one that is not taken comes again."""
        self.run = str(task.body["run"])
        self.handing = asyncio.create_task(self._take(task))

    def leave(self) -> None:
        """SIGTERM."""
        self._leaving.set()

    def die(self) -> None:
        """SIGKILL; what it was doing is gone without a word."""
        self.life.end()
        for task in tuple(self.tasks):
            task.cancel()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        serving = self._own(self._serve(scope, receive, send))
        await asyncio.wait({serving})
        if self.life.ended:
            raise httpx2.ReadError("the process is gone")
        serving.result()

    async def _serve(self, scope: Scope, receive: Receive, send: Send) -> None:
        await self._app(scope, receive, send)

    async def _begun(self) -> None:
        await self._serving.wait()

    async def _live(self) -> None:
        async with self._app.router.lifespan_context(self._app):
            self._serving.set()
            await self._leaving.wait()

    async def _take(self, task: Task) -> None:
        client = Client(
            httpx2.AsyncClient(transport=Wire(self)),
            base_url="http://runner",
            audience=callers.AUDIENCE,
            minter=Identity(self.stage.issuer, callers.TASKS, self.stage.clock),
            clock=self.stage.clock,
        )
        serving = apart(self._begun())
        await asyncio.wait({serving, self._living}, return_when=asyncio.FIRST_COMPLETED)
        serving.cancel()
        try:
            await client.call(internal.RUN, body=RunTask.model_validate(dict(task.body)), within=_A_DAY)
        except AnvilError:
            self.stage.again(task)

    def _own(self, work: Coroutine[None, None, None]) -> asyncio.Task[None]:
        context = Context()
        context.run(OWNER.set, self)
        return asyncio.get_running_loop().create_task(work, context=context)


def owned(
    loop: asyncio.AbstractEventLoop,
    work: Coroutine[Any, Any, Answer] | Generator[Any, None, Answer],
    /,
    *,
    context: Context | None = None,
) -> asyncio.Future[Answer]:
    """A task factory that knows whose process a task is a part of."""
    task = asyncio.Task(work, loop=loop, context=context)
    owner = OWNER.get() if context is None else context.get(OWNER)
    if owner is not None:
        owner.tasks.add(task)
        task.add_done_callback(owner.tasks.discard)
    return task


def _settings(directory: Path) -> RunnerSettings:
    return RunnerSettings(
        environment="dev",
        namespace="test",
        audience=callers.AUDIENCE,
        issuer=callers.ISSUER,
        coordinator_url="http://coordinator",
        coordinator_audience=callers.AUDIENCE,
        tasks_callers=frozenset({callers.TASKS}),
        work_dir=directory,
        sandbox="process",
        allow_local_repositories=True,
        grace_seconds=5,
    )
