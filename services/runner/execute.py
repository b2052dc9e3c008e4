"""One run, from its claim to its end: checkout, start, config, steps, report, teardown, complete (DESIGN 4, 6–8)."""

import asyncio
from datetime import timedelta

from services.kernel.errors import OwnershipLost, Permanent
from services.kernel.ids import CommitSha, RunId
from services.kernel.log import get_logger
from services.kernel.runs import Reason
from services.kernel.wire.runs import ClaimAnswer, Job
from services.runner.attempt import Attempt
from services.runner.beside import beside
from services.runner.checkout import CheckoutFailed, Git, Source, checkout, read_config, remarks
from services.runner.directory import working_directory
from services.runner.ending import Cause, Ended, Ending
from services.runner.environment import environment
from services.runner.limits import commands_end, grace_at_end
from services.runner.logs import RunLog
from services.runner.means import Means
from services.runner.outcome import Outcome, demanded, failed
from services.runner.pipeline import ConfigInvalid, Pipeline, parse
from services.runner.progress import Progress
from services.runner.pulse import beat, expire, limit, obey
from services.runner.sandbox import TeardownFailed, Workspace
from services.runner.steps import Steps

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
        self._job = job
        self._run = RunId(job.run_id)
        self._attempt = attempt
        self._means = means
        self._ending = ending
        self._progress = Progress()
        self._log = RunLog(attempt.append_log, limits=means.numbers.log, clock=means.clock)

    async def carry_out(self) -> None:
        """Do what was claimed; whatever happens, nothing of it is left."""
        pulse = beat(
            self._attempt,
            self._ending,
            self._progress,
            clock=self._means.clock,
            every=self._means.numbers.heartbeat,
        )
        async with beside(pulse), beside(self._upload()):
            try:
                await self._report(await self._outcome())
            except OwnershipLost:
                self._ending.require(Cause.LOST)
            finally:
                torn_down = await self._tear_down()
            await self._complete(torn_down)

    # The work

    async def _outcome(self) -> Outcome | None:
        """How the run ended; None if that is not ours to say."""
        try:
            async with beside(expire(self._attempt, self._ending, clock=self._means.clock)):
                return await self._work()
        except Ended:
            return self._halted()
        except CheckoutFailed as error:
            return failed(Reason.CHECKOUT_FAILED, error.detail)
        except ConfigInvalid as error:
            return failed(Reason.CONFIG_INVALID, f"{self._job.config_path}: {error.detail}")

    async def _work(self) -> Outcome:
        default = self._means.numbers.run
        async with beside(self._time_out(default)):
            workspace = await self._means.sandbox.open(self._run, output=self._log.write)
            git = self._git(workspace)
            commit = await self._ending.unless(self._check_out(git))
            await self._ending.unless(self._start(commit))
            pipeline = parse(await self._ending.unless(read_config(git, commit, self._job.config_path)))
        async with beside(self._time_out(pipeline.timeout or default)):
            return await self._run_steps(pipeline, workspace, commit)

    async def _check_out(self, git: Git) -> CommitSha:
        source = Source.of(self._job, protocols=self._means.protocols)
        self._log.say(f"checkout: {source.commit_sha or source.ref} of {source.url}")
        commit = await checkout(git, source)
        self._log.say(f"commit {commit}")
        for remark in await remarks(git, commit):
            self._log.say(remark)
        return commit

    async def _start(self, commit: CommitSha) -> None:
        """Ask for the leave to run commands.

        Raises:
            OwnershipLost: it is not ours to ask.
            CheckoutFailed: not with this commit.
        """
        try:
            obey(await self._attempt.start(commit), self._ending)
        except OwnershipLost:
            raise
        except Permanent as error:
            raise CheckoutFailed(f"commit {commit} was not accepted: {error.detail}") from error

    async def _run_steps(self, pipeline: Pipeline, workspace: Workspace, commit: CommitSha) -> Outcome:
        directory = working_directory(workspace.repository, pipeline.working_directory)
        self._progress.plan(tuple(step.name for step in pipeline.steps))
        grace = grace_at_end(pipeline.timeout or self._means.numbers.run, grace=self._means.numbers.grace)
        steps = Steps(self._means, self._ending, self._log, self._progress, grace=grace)
        given = environment(self._job, commit, pipeline.environment)
        return await steps.run(pipeline.steps, directory=directory, environment=given)

    def _git(self, workspace: Workspace) -> Git:
        return Git(
            directory=workspace.repository,
            home=workspace.git_home,
            protocols=self._means.protocols,
            limit=self._means.numbers.checkout,
        )

    async def _time_out(self, whole: timedelta) -> None:
        """Demand the end in time for all to be over when the run's limit, which counts from the claim, is reached."""
        spent = self._means.clock.elapsed() - self._attempt.began
        after = commands_end(whole, grace=self._means.numbers.grace) - spent
        detail = f"the run took longer than its {whole.total_seconds():.0f} s"
        await limit(self._ending, detail, clock=self._means.clock, after=after)

    def _halted(self) -> Outcome | None:
        return None if self._ending.demand is None else demanded(self._ending.demand)

    # The end

    async def _report(self, outcome: Outcome | None) -> None:
        """Say how it ended as soon as it is known; nothing, after a kill for want of the lease.

        Raises:
            OwnershipLost: nobody wants to know.
        """
        if outcome is None:
            raise OwnershipLost(f"{self._run} is not ours any more")
        canceled = self._ending.demand is not None and self._ending.demand.cause is Cause.CANCELED
        self._progress.halt("canceled" if canceled else "failed", at=self._means.clock.now())
        self._log.say(f"{outcome.status}: {outcome.detail}" if outcome.detail else outcome.status)
        await self._attempt.report(outcome, self._progress.steps)
        log.info("reported", run=self._run, status=outcome.status, reason=outcome.reason, exit_code=outcome.exit_code)

    async def _tear_down(self) -> bool:
        """Whether nothing of the run is left."""
        try:
            async with asyncio.timeout(self._at_most(self._means.numbers.teardown).total_seconds()):
                await self._means.sandbox.close()
        except (TeardownFailed, TimeoutError) as error:
            log.error("a run could not be torn down", run=self._run, detail=str(error))
            return False
        return True

    async def _complete(self, torn_down: bool) -> None:
        if self._is_lost():
            log.warning("the run is not ours any more", run=self._run)
            return
        if lost := await self._log.finish(within=self._at_most(self._means.numbers.last_words)):
            log.warning("a part of the log was given up", run=self._run, count=lost)
        try:
            await self._attempt.complete(torn_down=torn_down)
        except OwnershipLost:
            log.warning("the run is not ours any more", run=self._run)

    def _at_most(self, duration: timedelta) -> timedelta:
        """Less, if this process is being shut down."""
        demand = self._ending.demand
        terminated = demand is not None and demand.cause is Cause.TERMINATED
        return min(duration, self._means.numbers.hurry) if terminated else duration

    def _is_lost(self) -> bool:
        return self._ending.demand is not None and self._ending.demand.cause is Cause.LOST

    async def _upload(self) -> None:
        try:
            await self._log.upload()
        except OwnershipLost:
            self._ending.require(Cause.LOST)
