"""Runs a pipeline's steps in order, until one fails or the run has to end."""

import asyncio
from collections.abc import Mapping
from datetime import timedelta
from pathlib import Path

from services.kernel.runs import Reason
from services.runner.beside import beside
from services.runner.ending import Cause, Demand, Ended, Ending
from services.runner.logs import RunLog
from services.runner.means import Means
from services.runner.outcome import PASSED, Outcome, failed, step_failed
from services.runner.pipeline import Step
from services.runner.progress import Progress
from services.runner.pulse import limit
from services.runner.sandbox import Command, NotStarted

_AT_ONCE = timedelta()


class Steps:
    """The steps of one run. `grace` is what a stubborn command has between SIGTERM and SIGKILL."""

    def __init__(self, means: Means, ending: Ending, run_log: RunLog, progress: Progress, *, grace: timedelta) -> None:
        self._means = means
        self._ending = ending
        self._log = run_log
        self._progress = progress
        self._grace = grace

    async def run(self, steps: tuple[Step, ...], *, directory: Path, environment: Mapping[str, str]) -> Outcome:
        """How the steps ended by themselves; no steps at all have passed.

        Raises:
            Ended: they did not.
        """
        for index, step in enumerate(steps):
            self._log.say(f"step {index + 1}/{len(steps)}: {step.name}")
            self._progress.begin(index, at=self._means.clock.now())
            command = Command(script=step.script, directory=directory, environment=environment)
            try:
                code = await self._run(command, step)
            except NotStarted as error:
                return failed(Reason.STEP_FAILED, f"step {step.name!r}: {error.detail}")
            self._progress.end(index, exit_code=code, at=self._means.clock.now())
            if code != 0:
                return step_failed(step.name, code)
        return PASSED

    async def _run(self, command: Command, step: Step) -> int:
        """The command's own exit code.

        Raises:
            Ended: the end was demanded before it ended by itself, and nothing of it runs any more.
        """
        self._ending.check()
        running = asyncio.create_task(self._means.sandbox.run(command))
        stopping = asyncio.create_task(self._stop_when_demanded())
        try:
            async with beside(self._time_out(step)):
                await asyncio.wait({running, stopping}, return_when=asyncio.FIRST_COMPLETED)
                if self._ending.demand is None:
                    return await running
                await asyncio.wait({stopping})
            raise Ended
        finally:
            stopping.cancel()
            # What outlived SIGKILL is not waited for; closing the sandbox will name it.
            running.cancel()
            await asyncio.gather(running, stopping, return_exceptions=True)

    async def _stop_when_demanded(self) -> None:
        """Stop the sandbox once the end is demanded, and harder if it is demanded more urgently."""
        demand = await self._ending.beyond(None)
        while True:
            stopping = asyncio.create_task(self._means.sandbox.stop(grace=self._grace_for(demand)))
            hurrying = asyncio.create_task(self._ending.beyond(demand))
            try:
                await asyncio.wait({stopping, hurrying}, return_when=asyncio.FIRST_COMPLETED)
                if stopping.done():
                    return await stopping
                demand = await hurrying
            finally:
                stopping.cancel()
                hurrying.cancel()
                await asyncio.gather(stopping, hurrying, return_exceptions=True)

    def _grace_for(self, demand: Demand) -> timedelta:
        match demand.cause:
            case Cause.CANCELED | Cause.TIMED_OUT:
                return self._grace
            case Cause.TERMINATED:
                return min(self._grace, self._means.numbers.hurry)
            case Cause.LOST:
                return _AT_ONCE

    async def _time_out(self, step: Step) -> None:
        if step.timeout is not None:
            detail = f"step {step.name!r} took longer than {step.timeout.total_seconds():.0f} s"
            await limit(self._ending, detail, clock=self._means.clock, after=step.timeout)
