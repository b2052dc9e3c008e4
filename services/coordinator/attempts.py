"""What runners ask: claim, start, heartbeat, report, complete. Each is one decision, fenced by the attempt's hash."""

from collections.abc import Callable
from typing import TypeVar

from services.coordinator.dispatch import Dispatcher
from services.coordinator.reconcile import Reconciler
from services.coordinator.records.project import Project
from services.coordinator.records.run import HEARTBEATS, RUNS, Heartbeat, Result, Run, Step
from services.coordinator.rules import attempt
from services.coordinator.rules.numbers import Numbers
from services.coordinator.rules.scene import Scene
from services.coordinator.scenes import Changed, Scenes
from services.kernel.errors import Ambiguous, Contended, NotFound, OwnershipLost, PreconditionFailed
from services.kernel.ids import CommitSha, RunId, fingerprint
from services.kernel.ports import Clock, Ids, Store
from services.kernel.runs import Directive, Status, Verdict
from services.kernel.wire import runs as wire

Answer = TypeVar("Answer")
Rule = Callable[[Scene], tuple[Scene, Answer]]

_TRIES = 8


def attempt_hash(token: str) -> str:
    """What is stored of an attempt token, which grants the run."""
    return fingerprint("attempt", token)


class Attempts:
    def __init__(
        self,
        store: Store,
        scenes: Scenes,
        reconciler: Reconciler,
        dispatcher: Dispatcher,
        *,
        clock: Clock,
        ids: Ids,
        numbers: Numbers,
    ) -> None:
        self._store = store
        self._scenes = scenes
        self._reconciler = reconciler
        self._dispatcher = dispatcher
        self._clock = clock
        self._ids = ids
        self._numbers = numbers

    async def claim(self, run_id: RunId, command: wire.Claim) -> wire.ClaimAnswer:
        """Give the run to this attempt, or say why there is nothing to do (Q13)."""
        hashed = attempt_hash(command.attempt)

        def rule(scene: Scene) -> tuple[Scene, Verdict]:
            return attempt.claim(scene, attempt_hash=hashed, now=self._clock.now(), numbers=self._numbers)

        try:
            changed = await self._scenes.change(run_id, rule)
        except NotFound:
            return wire.ClaimAnswer(verdict=Verdict.RUN_MISSING)
        if changed.answer is not Verdict.EXECUTE:
            return wire.ClaimAnswer(verdict=changed.answer)
        await self._reconciler.follow(run_id)
        if (watch_at := changed.scene.run.timers.watchdog) is not None:
            await self._dispatcher.look_again(run_id, at=watch_at)
        return wire.ClaimAnswer(verdict=Verdict.EXECUTE, job=_job(changed.scene.project, changed.scene.run))

    async def start(self, run_id: RunId, command: wire.Start) -> wire.Orders:
        """
        Raises:
            OwnershipLost: the attempt does not own the run.
        """
        hashed, sha = attempt_hash(command.attempt), CommitSha(command.commit_sha)

        def rule(scene: Scene) -> tuple[Scene, Directive]:
            return attempt.start(scene, attempt_hash=hashed, commit_sha=sha, now=self._clock.now())

        return wire.Orders(directive=(await self._change(run_id, rule)).answer)

    async def heartbeat(self, run_id: RunId, command: wire.Heartbeat) -> wire.Orders:
        """Renew the lease without touching the project, unless the run's status has to follow.

        Raises:
            OwnershipLost: the attempt does not own the run.
        """
        hashed = attempt_hash(command.attempt)
        steps = None if command.steps is None else tuple(_step(step) for step in command.steps)

        def rule(scene: Scene) -> tuple[Scene, Directive]:
            return attempt.heartbeat(scene, attempt_hash=hashed, now=self._clock.now(), steps=steps)

        for _ in range(_TRIES):
            run_snapshot, lease_snapshot = await self._store.get([RUNS.ref(run_id), HEARTBEATS.ref(run_id)])
            run, lease = RUNS.load_if(run_snapshot), HEARTBEATS.load_if(lease_snapshot)
            if run is None or lease is None or lease.value.attempt_hash != hashed:
                raise OwnershipLost(f"{run_id} is not this attempt's")
            if run.value.status is Status.CANCEL_REQUESTED:
                return wire.Orders(directive=(await self._change(run_id, rule)).answer)
            renewed = Heartbeat(
                attempt_hash=hashed, at=self._clock.now(), steps=lease.value.steps if steps is None else steps
            )
            try:
                await self._store.commit([HEARTBEATS.replace(run_id, renewed, at=lease.version, ids=self._ids)])
            except (PreconditionFailed, Contended, Ambiguous):
                continue
            canceling = run.value.status is Status.CANCELING
            return wire.Orders(directive=Directive.CANCEL if canceling else Directive.CONTINUE)
        raise Contended(f"the lease of {run_id} was changed by others every time")

    async def report(self, run_id: RunId, command: wire.Report) -> None:
        """
        Raises:
            OwnershipLost: the attempt does not own the run.
        """
        hashed = attempt_hash(command.attempt)
        result = Result(
            status=command.status, reason=command.reason, detail=command.detail, exit_code=command.exit_code
        )
        steps = tuple(_step(step) for step in command.steps)
        await self._change(
            run_id, lambda scene: (attempt.report(scene, attempt_hash=hashed, result=result, steps=steps), None)
        )

    async def complete(self, run_id: RunId, command: wire.Complete) -> None:
        """End the run and let the next one go (R24).

        Raises:
            OwnershipLost: the attempt does not own the run.
        """
        hashed = attempt_hash(command.attempt)

        def rule(scene: Scene) -> tuple[Scene, None]:
            done = attempt.complete(
                scene,
                attempt_hash=hashed,
                teardown_complete=command.teardown_complete,
                now=self._clock.now(),
                numbers=self._numbers,
            )
            return done, None

        await self._change(run_id, rule)

    async def _change(self, run_id: RunId, rule: Rule[Answer]) -> Changed[Answer]:
        try:
            changed = await self._scenes.change(run_id, rule)
        except NotFound as error:
            raise OwnershipLost(f"there is no run {run_id}") from error
        await self._reconciler.follow(run_id, changed.promoted)
        return changed


def _job(project: Project, run: Run) -> wire.Job:
    if run.started_at is None:
        raise OwnershipLost(f"{run.run_id} was never claimed")
    return wire.Job(
        run_id=run.run_id,
        project=run.project,
        project_id=run.project_id,
        repository_url=project.repository_url,
        config_path=project.config_path,
        branch=run.branch,
        commit_sha=run.commit_sha if run.pinned else None,
        claimed_at=run.started_at,
    )


def _step(step: wire.StepStatus) -> Step:
    return Step(
        name=step.name,
        status=step.status,
        exit_code=step.exit_code,
        started_at=step.started_at,
        finished_at=step.finished_at,
    )
