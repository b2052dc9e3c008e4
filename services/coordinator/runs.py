"""What people ask about runs: start one, run one again, cancel one, look at them."""

from services.coordinator import paging, views
from services.coordinator.actors import Actors, Decision, View
from services.coordinator.audit import Audit
from services.coordinator.directory import Directory
from services.coordinator.layout import RUNS_OF_PROJECT
from services.coordinator.logs import Logs
from services.coordinator.reconcile import Reconciler
from services.coordinator.records.delivery import REF_EVENTS
from services.coordinator.records.project import Project
from services.coordinator.records.row import RUN_INDEX
from services.coordinator.records.run import HEARTBEATS, RUNS, Heartbeat, Run
from services.coordinator.rules import ending, manual
from services.coordinator.rules.manual import Asked
from services.coordinator.rules.numbers import Numbers
from services.coordinator.rules.scene import Scene
from services.coordinator.scenes import Scenes
from services.kernel.errors import NotFound
from services.kernel.ids import ProjectId, RunId, keyed_run_id
from services.kernel.ports import Clock, Ids, Op, Snapshot, Store, Where, Write
from services.kernel.wire import runs as wire
from services.kernel.wire.audit import Act
from services.kernel.wire.model import Page, PageQuery


class Runs:
    def __init__(
        self,
        store: Store,
        actors: Actors,
        scenes: Scenes,
        reconciler: Reconciler,
        directory: Directory,
        logs: Logs,
        audit: Audit,
        *,
        clock: Clock,
        ids: Ids,
        numbers: Numbers,
    ) -> None:
        self._store = store
        self._actors = actors
        self._scenes = scenes
        self._reconciler = reconciler
        self._directory = directory
        self._logs = logs
        self._audit = audit
        self._clock = clock
        self._ids = ids
        self._numbers = numbers

    async def accept(self, slug: str, command: wire.AcceptRun) -> wire.RunAccepted:
        """Queue a manual run or a rerun; with an idempotency key, the run that stands for the key (C16).

        Raises:
            AnvilError: see `manual.decide`.
        """
        run_id = await self._directory.at(slug, lambda project_id: self._accept(project_id, command))
        await self._reconciler.follow(run_id)
        return wire.RunAccepted(run_id=run_id)

    async def _accept(self, project_id: ProjectId, command: wire.AcceptRun) -> RunId:
        key = command.idempotency_key
        run_id = RunId(command.run_id) if key is None else keyed_run_id(project_id, key)
        event_id = await self._ref_event_id(command)
        wanted = [RUNS.ref(run_id)]
        wanted += [RUNS.ref(command.source)] if command.source else []
        wanted += [REF_EVENTS.ref(event_id)] if event_id else []

        def rule(view: View) -> Decision[RunId]:
            found = view.held(RUNS, run_id)
            source = view.held(RUNS, command.source) if command.source else None
            event = view.held(REF_EVENTS, event_id) if event_id else None
            asked = manual.decide(
                view.project.value,
                run_id,
                command,
                found=None if found is None else found.value,
                source=None if source is None else source.value,
                ref_event=None if event is None else event.value,
                now=self._clock.now(),
                numbers=self._numbers,
            )
            writes = self._writes(asked, command)
            if asked.ref_event is not None and event is not None and event_id is not None:
                writes.append(REF_EVENTS.replace(event_id, asked.ref_event, at=event.version, ids=self._ids))
            return Decision(answer=asked.run_id, project=asked.project, writes=tuple(writes))

        creates = command.source is None
        return await self._actors.decide(project_id, rule, needs=lambda _: wanted, creates=creates)

    async def cancel(self, run_id: RunId, *, actor: str) -> wire.RunView:
        """Ask for the end of a run; a finished one stays as it is (Q15).

        Raises:
            NotFound: there is no such run.
        """

        def rule(scene: Scene) -> tuple[Scene, None]:
            return ending.cancel(scene, now=self._clock.now(), numbers=self._numbers), None

        def entry() -> Write:
            return self._audit.entry(actor, Act.RUN_CANCEL, f"runs/{run_id}")

        changed = await self._scenes.change(run_id, rule, entry=entry)
        await self._reconciler.follow(run_id, changed.promoted)
        return await self.show(run_id)

    async def show(self, run_id: RunId) -> wire.RunView:
        """
        Raises:
            NotFound: there is no such run, or its project is gone.
        """
        run, project, lease = await self._read(run_id)
        place = next((entry.place for entry in views.queued(project) if entry.run_id == run_id), None)
        return wire.RunView(
            run=views.run(run, position=run.position),
            steps=views.steps(run.steps or (lease.steps if lease else ())),
            reason=run.reason,
            detail=run.detail,
            place=place,
            log_tail=await self._logs.tail(run_id),
            links={},
        )

    async def log(self, run_id: RunId, *, after: int) -> wire.LogPart:
        """
        Raises:
            NotFound: there is no such run, or its project is gone.
        """
        run, _, _ = await self._read(run_id)
        return await self._logs.read(run, after=after)

    async def page(self, slug: str, query: PageQuery) -> Page[wire.Run]:
        """A project's runs as the index has them, newest first; positions as the queue has them.

        Raises:
            NotFound: there is no such project.
            Invalid: the page token is not of this list.
        """
        project = await self._directory.at(slug, self._actors.read)
        of_project = Where("project_id", Op.EQUAL, project.project_id)
        asked = paging.query(RUN_INDEX.collection, query, by=RUNS_OF_PROJECT.order[0], where=(of_project,))
        positions = {entry.run_id: entry.position for entry in project.queue}

        def show(snapshot: Snapshot) -> wire.Run:
            row = RUN_INDEX.load(snapshot).value
            return views.run(row, position=positions.get(row.run_id))

        return paging.page(asked, await self._store.query(asked), show)

    async def _read(self, run_id: RunId) -> tuple[Run, Project, Heartbeat | None]:
        run_snapshot, lease_snapshot = await self._store.get([RUNS.ref(run_id), HEARTBEATS.ref(run_id)])
        held, lease = RUNS.load_if(run_snapshot), HEARTBEATS.load_if(lease_snapshot)
        if held is None or (held.value.expires_at is not None and held.value.expires_at <= self._clock.now()):
            raise NotFound(f"there is no run {run_id}")
        project = await self._actors.read(held.value.project_id)
        return held.value, project, None if lease is None else lease.value

    async def _ref_event_id(self, command: wire.AcceptRun) -> str | None:
        """The push that the source run belongs to, which never changes."""
        if command.source is None:
            return None
        (snapshot,) = await self._store.get([RUNS.ref(command.source)])
        source = RUNS.load_if(snapshot)
        return None if source is None else source.value.ref_event_id

    def _writes(self, asked: Asked, command: wire.AcceptRun) -> list[Write]:
        if asked.run is None:
            return []
        act = Act.RUN_RERUN if command.source else Act.RUN_START
        entry = self._audit.entry(command.actor, act, f"runs/{asked.run_id}")
        return [RUNS.create(asked.run_id, asked.run, ids=self._ids), entry]
