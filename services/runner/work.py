"""The part of a run in which something is executed: checkout, the leave to start, config, steps."""

from datetime import timedelta

from services.kernel.errors import OwnershipLost, Permanent
from services.kernel.ids import CommitSha, RunId
from services.kernel.runs import Reason
from services.kernel.wire.runs import Job
from services.runner.attempt import Attempt
from services.runner.beside import beside
from services.runner.checkout import CheckoutFailed, Git, Source, checkout, read_config, remarks
from services.runner.directory import working_directory
from services.runner.ending import Ended, Ending
from services.runner.environment import environment
from services.runner.limits import commands_end, grace_at_end
from services.runner.logs import RunLog
from services.runner.means import Means
from services.runner.outcome import Outcome, demanded, failed
from services.runner.pipeline import ConfigInvalid, Pipeline, parse
from services.runner.progress import Progress
from services.runner.pulse import expire, limit, obey
from services.runner.sandbox import GuardGone, NotStarted, TeardownFailed, Workspace
from services.runner.steps import Steps


class Work:
    """What a claimed run asks for. Leaves the sandbox as it is."""

    def __init__(
        self, job: Job, attempt: Attempt, means: Means, *, ending: Ending, run_log: RunLog, progress: Progress
    ) -> None:
        self._job = job
        self._attempt = attempt
        self._means = means
        self._ending = ending
        self._log = run_log
        self._progress = progress

    async def outcome(self) -> Outcome | None:
        """How the run ended; None if it was given up because it is another's.

        Raises:
            OwnershipLost: the run is not ours.
        """
        try:
            async with beside(expire(self._attempt, self._ending, clock=self._means.clock)):
                return await self._done()
        except Ended:
            return None if self._ending.demand is None else demanded(self._ending.demand)
        except GuardGone:
            return failed(Reason.RUNNER_TERMINATED, "the process that guards the run's commands was killed")
        except (OSError, NotStarted, TeardownFailed) as error:
            return failed(Reason.RUNNER_TERMINATED, f"the runner has no room for the run: {error}")
        except CheckoutFailed as error:
            return failed(Reason.CHECKOUT_FAILED, error.detail)
        except ConfigInvalid as error:
            return failed(Reason.CONFIG_INVALID, f"{self._job.config_path}: {error.detail}")

    async def _done(self) -> Outcome:
        default = self._means.numbers.run
        async with beside(self._time_out(default)):
            workspace = await self._open()
            git = self._git(workspace)
            commit = await self._ending.unless(self._check_out(git))
            await self._ending.unless(self._start(commit))
            pipeline = parse(await self._ending.unless(read_config(git, commit, self._job.config_path)))
        async with beside(self._time_out(pipeline.timeout or default)):
            return await self._run_steps(pipeline, workspace, commit)

    async def _open(self) -> Workspace:
        """Open the sandbox, and let what keeps its processes know of the lease from now on."""
        sandbox, lease = self._means.sandbox, self._attempt.lease
        workspace = await sandbox.open(RunId(self._job.run_id), output=self._log.write, lease_until=lease.until)
        lease.follow(lambda until: sandbox.renew(lease_until=until))
        return workspace

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
            processes=self._means.sandbox,
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
