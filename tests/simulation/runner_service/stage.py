"""A project with two runs, a real repository, and machines on which the production runner is started."""

import asyncio
import signal
from collections.abc import AsyncGenerator, Coroutine
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import TypeVar

import httpx2

from services.kernel.errors import AnvilError
from services.kernel.ports import Target, Task
from services.kernel.runs import Reason, Status
from tests.simulation.node import Issuer
from tests.simulation.runner_service.effects import Effects
from tests.simulation.runner_service.ends import printed, stored_log, wrong_in_the_end
from tests.simulation.runner_service.line import Line
from tests.simulation.runner_service.process import RunnerProcess, owned
from tests.simulation.runner_service.scene import LoggedWorld, Repository, place, prepare, repository
from tests.simulation.runner_service.time import apart
from tests.simulation.runner_service.truth import Truth
from tests.simulation.wire import Wire

Answer = TypeVar("Answer")

_ROUND = timedelta(seconds=10)
_ROUNDS = 120
_HANDED_AGAIN_AFTER = timedelta(seconds=5)
_PATIENCE = timedelta(minutes=5)


class Stage:
    """`cancel_answered` is the status that a person saw who canceled the first run."""

    def __init__(self, world: LoggedWorld, repository: Repository, folder: Path) -> None:
        self.issuer = world.issuer
        self.clock = world.time
        self.line = Line()
        self.world = world
        self.truth = Truth(world=self.world, effects=Effects(folder / "effects"))
        self.machines: list[RunnerProcess] = []
        self.cancel_answered: Status | None = None
        self.git = repository.git
        self._repository = repository
        self._folder = folder

    def coordinator(self) -> httpx2.AsyncBaseTransport:
        """The instance as it is now, in its next life if the last one ended."""
        return Wire(self.world.calls().node)

    def again(self, task: Task) -> None:
        """The task queue delivers a task again, a little later."""
        self.world.queue.waiting.append(replace(task, not_before=self.clock.now() + _HANDED_AGAIN_AFTER))

    async def ask(self, work: Coroutine[None, None, Answer]) -> Answer | None:
        """Somebody's call, while time goes on; None if it came to nothing."""
        asked = apart(work)
        await self.clock.until(asked.done, at_most=_PATIENCE)
        try:
            return asked.result()
        except AnvilError:
            return None

    async def rest(self) -> list[str]:
        """Time goes on until everything has come to its end; what is wrong then, or was on the way."""
        for _ in range(_ROUNDS):
            await self.round()
            if self._still and (self.world.violations or not await self.world.check_end()):
                break
        return [*await self.world.check_end(), *self.wrong()]

    async def round(self) -> None:
        """Ten seconds: tasks are delivered, and somebody looks at what is due."""
        self._deliver()
        await self.clock.let_pass(_ROUND)
        await self.ask(self.world.calls().sweep())

    def wrong(self) -> list[str]:
        """What the runs came to that is not what they did."""
        return [*wrong_in_the_end(self.truth, self._repository.steps), *self._canceled_in_vain()]

    def log_of(self, run: str) -> str:
        """What is stored of what its commands wrote."""
        return printed("".join(chunk.text for chunk in stored_log(self.world.state, run)))

    def _canceled_in_vain(self) -> list[str]:
        """A cancel that came before the result is how a run ends, unless it was lost (C27)."""
        run = self.world.state.runs[self.world.pushed]
        began = self.truth.effects.of(self.world.pushed)
        found = [
            f"Q15: {self.world.pushed} ran though it was canceled"
            for _ in began[:1]
            if self.cancel_answered is Status.CANCELED
        ]
        if self.cancel_answered is Status.CANCEL_REQUESTED and (
            run.status is not Status.CANCELED and run.reason is not Reason.RUNNER_LOST
        ):
            found.append(f"S3: {self.world.pushed} was canceled in time and is {run.status}: {run.reason}")
        return found

    @property
    def _still(self) -> bool:
        """Whether no process is in the middle of something, or stopped."""
        return all(each.life.running.is_set() and not each.busy for each in self.machines)

    def free(self) -> RunnerProcess:
        """A process that takes a task: one that is there, or a new one, on its machine if it died."""
        for number, machine in enumerate(self.machines):
            if machine.over:
                self.machines[number] = machine = RunnerProcess(self, machine.directory)
            if machine.life.running.is_set() and not machine.busy:
                return machine
        self.machines.append(RunnerProcess(self, self._folder / f"machine-{len(self.machines)}"))
        return self.machines[-1]

    def _deliver(self) -> None:
        waiting = self.world.queue.waiting
        for task in [each for each in waiting if each.not_before is None or each.not_before <= self.clock.now()]:
            waiting.remove(task)
            if task.target is Target.RUNNER:
                self.free().hand(task)
            else:
                _ = apart(self._look(task))

    async def _look(self, task: Task) -> None:
        try:
            await self.world.calls().look(str(task.body["run"]))
        except AnvilError:
            self.again(task)


@asynccontextmanager
async def stage(world: LoggedWorld, repository: Repository, folder: Path) -> AsyncGenerator[Stage]:
    """Everything that runs there has ended afterwards."""
    loop = asyncio.get_running_loop()
    before, handler = asyncio.all_tasks(), signal.getsignal(signal.SIGTERM)
    loop.set_task_factory(owned)
    made = Stage(world, repository, folder)
    try:
        yield made
    finally:
        for machine in made.machines:
            machine.die()
        left = asyncio.all_tasks() - before
        for task in left:
            task.cancel()
        await asyncio.gather(*left, return_exceptions=True)
        loop.set_task_factory(None)
        signal.signal(signal.SIGTERM, handler)


@asynccontextmanager
async def own_stage(issuer: Issuer) -> AsyncGenerator[Stage]:
    """A stage in a world of its own."""
    world = LoggedWorld(issuer)
    try:
        await prepare(world, repository(issuer.folder))
        async with stage(world, repository(issuer.folder), place(issuer)) as made:
            yield made
    finally:
        world.close()
