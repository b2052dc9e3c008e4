"""Looking at what is due. Level-triggered: looking never, once or often, in any order, comes to the same.

A run says when it wants to be looked at (`attention_at`, the earliest of its timers). Tasks, follow-ups and sweeps only
decide how soon that happens.
"""

from dataclasses import replace
from datetime import datetime, timedelta

from services.coordinator.dispatch import Dispatcher, Handed
from services.coordinator.index import RunDocuments
from services.coordinator.records.run import Run
from services.coordinator.rules import dispatch, ending, index
from services.coordinator.rules.numbers import Numbers
from services.coordinator.rules.scene import Scene
from services.coordinator.scenes import Scenes
from services.kernel.errors import AnvilError
from services.kernel.ids import RunId
from services.kernel.log import get_logger
from services.kernel.ports import Clock
from services.kernel.runs import Status

log = get_logger(__name__)


class Reconciler:
    def __init__(
        self,
        documents: RunDocuments,
        scenes: Scenes,
        dispatcher: Dispatcher,
        *,
        clock: Clock,
        numbers: Numbers,
    ) -> None:
        self._documents = documents
        self._scenes = scenes
        self._dispatcher = dispatcher
        self._clock = clock
        self._numbers = numbers

    async def look(self, run_id: RunId) -> None:
        """Do whatever is due for one run, and for the run that became executable by it.

        Raises:
            AnvilError: something could not be done; it stays due.
        """
        run = await self._due(run_id)
        if run is None:
            return
        if _due(run.timers.watchdog, self._clock.now()):
            await self._watch(run_id)
        if _due(run.timers.dispatch, self._clock.now()):
            await self._dispatch(run)
        if _due(run.timers.index, self._clock.now()):
            await self._sync(run_id)

    async def settle(self, run: Run, handed: Handed) -> None:
        """Note what the task queue made of a run that was handed over, then do what else is due."""
        if handed is Handed.REJECTED:
            await self._rejected(run)
        else:
            await self._documents.update(run.run_id, lambda now: self._noted(now, run, handed))
        await self.look(run.run_id)

    async def follow(self, *runs: RunId | None) -> None:
        """Look at runs that a command just changed. A failure is only logged: the timers have it."""
        for run_id in runs:
            if run_id is None:
                continue
            try:
                await self.look(run_id)
            except AnvilError as error:
                log.warning("left to its timer", run=run_id, code=error.code, detail=error.detail)

    async def _due(self, run_id: RunId) -> Run | None:
        held = await self._documents.read(run_id)
        return held.value if held is not None and _due(held.value.timers.earliest, self._clock.now()) else None

    async def _dispatch(self, run: Run) -> None:
        handed = await self._dispatcher.hand_over(run)
        if handed is Handed.REJECTED:
            await self._rejected(run)
        else:
            await self._documents.update(run.run_id, lambda now: self._noted(now, run, handed))

    def _noted(self, run: Run, handed_run: Run, handed: Handed) -> Run:
        if run.status is not Status.QUEUED or run.dispatch != handed_run.dispatch:
            return run
        note = dispatch.taken if handed is Handed.TAKEN else dispatch.unanswered
        return note(run, now=self._clock.now(), numbers=self._numbers)

    async def _rejected(self, handed_run: Run) -> None:
        def rule(scene: Scene) -> tuple[Scene, None]:
            now = self._clock.now()
            if scene.run.status is not Status.QUEUED or scene.run.dispatch != handed_run.dispatch:
                return scene, None
            later = dispatch.rejected(scene.run, now=now, numbers=self._numbers)
            if later is None:
                return ending.undeliverable(scene, now=now, numbers=self._numbers), None
            return replace(scene, run=later), None

        changed = await self._scenes.change(handed_run.run_id, rule)
        await self._wake(handed_run.run_id, changed.scene.run.timers.dispatch)
        await self.follow(handed_run.run_id, changed.promoted)

    async def _watch(self, run_id: RunId) -> None:
        def rule(scene: Scene) -> tuple[Scene, None]:
            return ending.watch(scene, now=self._clock.now(), numbers=self._numbers), None

        changed = await self._scenes.change(run_id, rule)
        await self._wake(run_id, changed.scene.run.timers.watchdog)
        await self.follow(run_id, changed.promoted)

    async def _sync(self, run_id: RunId) -> None:
        try:
            await self._documents.sync(run_id)
        except AnvilError:
            now, retries = self._clock.now(), self._numbers.index_retries
            await self._documents.update(run_id, lambda run: index.put_off(run, now=now, retries=retries))
            raise

    async def _wake(self, run_id: RunId, at: datetime | None) -> None:
        if at is not None and at - self._clock.now() < timedelta(days=1):
            await self._dispatcher.look_again(run_id, at=at)


def _due(at: datetime | None, now: datetime) -> bool:
    return at is not None and at <= now
