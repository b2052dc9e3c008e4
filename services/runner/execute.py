"""One run, from its claim to its end: the work, then report, teardown, complete, in this order (R25)."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, suppress
from datetime import timedelta

from services.kernel.errors import OwnershipLost
from services.kernel.ids import RunId
from services.kernel.log import get_logger
from services.kernel.runs import Reason
from services.kernel.wire.runs import ClaimAnswer, Job
from services.runner.attempt import Attempt
from services.runner.beside import beside
from services.runner.ending import Cause, Ending
from services.runner.logs import RunLog
from services.runner.means import Means
from services.runner.outcome import Outcome, demanded, failed
from services.runner.progress import Progress
from services.runner.pulse import beat
from services.runner.sandbox import TeardownFailed
from services.runner.work import Work

log = get_logger(__name__)


async def execute(run: RunId, means: Means, ending: Ending) -> ClaimAnswer:
    """Claim the run and, if it is ours, see it through to its end; the answer to the claim.

    Raises:
        AnvilError: the claim was not answered.
    """
    attempt = Attempt(run, means.coordinator, clock=means.clock, ids=means.ids, lease=means.numbers.lease)
    answer = await attempt.claim()
    if answer.job is None:
        log.info("nothing to do", run=run, verdict=answer.verdict)
    else:
        await Execution(answer.job, attempt, means, ending).carry_out()
    return answer


class Execution:
    """An attempt that owns its run, or did when it was claimed."""

    def __init__(self, job: Job, attempt: Attempt, means: Means, ending: Ending) -> None:
        self._run = RunId(job.run_id)
        self._attempt = attempt
        self._means = means
        self._ending = ending
        self._progress = Progress()
        self._last_words = ""
        self._log = RunLog(attempt.append_log, limits=means.numbers.log, clock=means.clock)
        self._work = Work(job, attempt, means, ending=ending, run_log=self._log, progress=self._progress)

    async def carry_out(self) -> None:
        """Do what was claimed; whatever happens, nothing of it is left, and heartbeats go on to the end."""
        numbers = self._means.numbers
        pulse = beat(self._attempt, self._ending, self._progress, clock=self._means.clock, every=numbers.heartbeat)
        async with beside(pulse), beside(self._upload()):
            try:
                await self._report(await self._outcome())
            except OwnershipLost:
                self._ending.require(Cause.LOST)
            finally:
                torn_down = await self._tear_down()
            await self._complete(torn_down)

    async def _outcome(self) -> Outcome | None:
        """How the run ended; None if that is not ours to say.

        A cancel that is known by now wins (C27). An error that nobody foresaw is an end too.
        """
        try:
            outcome = await self._work.outcome()
        except OwnershipLost:
            raise
        except Exception as error:
            log.exception("a run broke off", run=self._run)
            outcome = failed(Reason.RUNNER_TERMINATED, f"the runner met an error of its own: {type(error).__name__}")
        if not self._attempt.lease.left(self._means.clock.elapsed()):
            # The guard has ended what ended after the lease; it only looks like an end of its own.
            return None
        demand = self._ending.demand
        return demanded(demand) if outcome and demand and demand.cause is Cause.CANCELED else outcome

    async def _report(self, outcome: Outcome | None) -> None:
        """Say how it ended as soon as it is known.

        Raises:
            OwnershipLost: nobody wants to know, or there is nothing to say after a kill for want of the lease.
        """
        if outcome is None:
            raise OwnershipLost(f"the lease of {self._run} ran out")
        self._progress.halt("canceled" if self._is(Cause.CANCELED) else "failed", at=self._means.clock.now())
        self._last_words = f"{outcome.status}: {outcome.detail}" if outcome.detail else outcome.status
        await self._attempt.report(outcome, self._progress.steps)
        log.info("reported", run=self._run, status=outcome.status, reason=outcome.reason, exit_code=outcome.exit_code)

    async def _tear_down(self) -> bool:
        """Whether nothing of the run is left."""
        try:
            async with self._at_most(self._means.numbers.teardown):
                await self._means.sandbox.close()
        except (TeardownFailed, OSError) as error:
            log.error("a run could not be torn down", run=self._run, detail=str(error))
            return False
        return True

    async def _complete(self, torn_down: bool) -> None:
        if self._is(Cause.LOST):
            log.warning("the run is not ours any more", run=self._run)
            return
        # Only now: what ran in the background has been writing until it was torn down.
        self._log.say(self._last_words)
        with suppress(TimeoutError):
            async with self._at_most(self._means.numbers.last_words):
                await self._log.finish()
        if self._log.lost:
            log.warning("a part of the log was given up", run=self._run, count=self._log.lost)
        try:
            await self._attempt.complete(torn_down=torn_down)
        except OwnershipLost:
            log.warning("the run is not ours any more", run=self._run)

    async def _upload(self) -> None:
        try:
            await self._log.upload()
        except OwnershipLost:
            self._ending.require(Cause.LOST)

    @asynccontextmanager
    async def _at_most(self, duration: timedelta) -> AsyncGenerator[None]:
        """Bound a block, and more tightly from the moment at which this process is told to go.

        Raises:
            TimeoutError: it took longer.
        """
        async with asyncio.timeout(duration.total_seconds()) as timer, beside(self._hurry(timer)):
            yield

    async def _hurry(self, timer: asyncio.Timeout) -> None:
        await self._ending.as_urgent_as(Cause.TERMINATED)
        soon = asyncio.get_running_loop().time() + self._means.numbers.hurry.total_seconds()
        timer.reschedule(soon if (end := timer.when()) is None else min(soon, end))

    def _is(self, cause: Cause) -> bool:
        return self._ending.demand is not None and self._ending.demand.cause is cause
