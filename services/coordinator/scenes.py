"""Changing a run together with its project: load a scene, apply a pure rule, write what became different."""

from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

from services.coordinator.actors import Actors, Decision, View
from services.coordinator.records.project import Project
from services.coordinator.records.run import HEARTBEATS, RUNS, Heartbeat, Run
from services.coordinator.records.table import Held
from services.coordinator.rules import queue
from services.coordinator.rules.scene import Scene
from services.kernel.errors import NotFound
from services.kernel.ids import ProjectId, RunId
from services.kernel.ports import Ids, Ref, Store, Write

Answer = TypeVar("Answer")

_REMEMBERED = 10_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Changed(Generic[Answer]):
    """The rule's answer, the scene as it is now, and the run that became executable by it, if any."""

    answer: Answer
    scene: Scene
    promoted: RunId | None


class Scenes:
    def __init__(self, store: Store, actors: Actors, *, ids: Ids) -> None:
        self._store = store
        self._actors = actors
        self._ids = ids
        self._projects: OrderedDict[RunId, ProjectId] = OrderedDict()

    async def change(
        self, run_id: RunId, rule: Callable[[Scene], tuple[Scene, Answer]], *, entry: Callable[[], Write] | None = None
    ) -> Changed[Answer]:
        """Apply a rule to a run and commit the difference, all of it or nothing; with its `entry` if there is any.

        Raises:
            NotFound: there is no such run.
            AnvilError: see `Actors.decide`.
        """

        def needs(project: Project) -> Sequence[Ref]:
            next_run = queue.successor(project, run_id)
            refs = [RUNS.ref(run_id), HEARTBEATS.ref(run_id)]
            return refs if next_run is None else [*refs, RUNS.ref(next_run)]

        def decide(view: View) -> Decision[Changed[Answer]]:
            stage = _Stage.of(view, run_id)
            after, answer = rule(stage.scene)
            changed = Changed(answer=answer, scene=after, promoted=_promoted(stage.scene, after))
            writes = stage.difference(after, ids=self._ids)
            if after.project == stage.scene.project and not writes:
                return Decision(answer=changed)
            written = () if entry is None else (entry(),)
            # The project is written with every change of a run: its version is what fences the run's other writers.
            return Decision(answer=changed, project=after.project, writes=(*writes, *written))

        return await self._actors.decide(await self._project_of(run_id), decide, needs=needs)

    async def _project_of(self, run_id: RunId) -> ProjectId:
        known = self._projects.get(run_id)
        if known is not None:
            return known
        (snapshot,) = await self._store.get([RUNS.ref(run_id)])
        if snapshot is None:
            raise NotFound(f"there is no run {run_id}")
        project_id = self._projects[run_id] = RUNS.load(snapshot).value.project_id
        if len(self._projects) > _REMEMBERED:
            self._projects.popitem(last=False)
        return project_id


@dataclass(frozen=True, slots=True, kw_only=True)
class _Stage:
    """A scene with the versions it was read at."""

    run: Held[Run]
    heartbeat: Held[Heartbeat] | None
    successor: Held[Run] | None
    scene: Scene

    @classmethod
    def of(cls, view: View, run_id: RunId) -> "_Stage":
        run = view.held(RUNS, run_id)
        if run is None:
            raise NotFound(f"there is no run {run_id}")
        heartbeat = view.held(HEARTBEATS, run_id)
        next_run = queue.successor(view.project.value, run_id)
        successor = None if next_run is None else view.held(RUNS, next_run)
        scene = Scene(
            project=view.project.value,
            run=run.value,
            heartbeat=None if heartbeat is None else heartbeat.value,
            successor=None if successor is None else successor.value,
        )
        return cls(run=run, heartbeat=heartbeat, successor=successor, scene=scene)

    def difference(self, after: Scene, *, ids: Ids) -> tuple[Write, ...]:
        writes: list[Write] = []
        run_id = self.run.value.run_id
        if after.run != self.run.value:
            writes.append(RUNS.replace(run_id, after.run, at=self.run.version, ids=ids))
        writes.extend(self._lease(run_id, after.heartbeat, ids=ids))
        if self.successor is not None and after.successor is not None and after.successor != self.successor.value:
            writes.append(RUNS.replace(after.successor.run_id, after.successor, at=self.successor.version, ids=ids))
        return tuple(writes)

    def _lease(self, run_id: RunId, after: Heartbeat | None, *, ids: Ids) -> list[Write]:
        match self.heartbeat, after:
            case None, Heartbeat() as first:
                return [HEARTBEATS.create(run_id, first, ids=ids)]
            case Held() as held, None:
                return [HEARTBEATS.delete(run_id, at=held.version)]
            case Held() as held, Heartbeat() as renewed if renewed != held.value:
                return [HEARTBEATS.replace(run_id, renewed, at=held.version, ids=ids)]
            case _:
                return []


def _promoted(before: Scene, after: Scene) -> RunId | None:
    now = queue.executable(after.project)
    return now if now != queue.executable(before.project) else None
