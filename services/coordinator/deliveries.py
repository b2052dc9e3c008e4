"""Webhook deliveries: accepted, replayed, listed."""

from collections import OrderedDict
from collections.abc import Sequence

from services.coordinator import paging, views
from services.coordinator.actors import Actors, Decision, View
from services.coordinator.background import Background
from services.coordinator.directory import Directory
from services.coordinator.dispatch import Dispatcher
from services.coordinator.layout import DELIVERIES_OF_PROJECT, DELIVERY_FILTERS
from services.coordinator.reconcile import Reconciler
from services.coordinator.records.delivery import DELIVERIES, REF_EVENTS, Delivery
from services.coordinator.records.project import Project
from services.coordinator.records.run import RUNS
from services.coordinator.records.table import Held
from services.coordinator.replays import Replays
from services.coordinator.rules import deliveries
from services.coordinator.rules.deliveries import Recorded
from services.coordinator.rules.numbers import Numbers
from services.kernel.errors import NotFound
from services.kernel.ids import DeliveryRowId, ProjectId, delivery_row_id
from services.kernel.ports import Clock, Ids, Op, Ref, Snapshot, Store, Where, Write
from services.kernel.wire import deliveries as wire
from services.kernel.wire.model import Page

_REMEMBERED = 10_000


class Deliveries:
    def __init__(
        self,
        store: Store,
        actors: Actors,
        reconciler: Reconciler,
        dispatcher: Dispatcher,
        directory: Directory,
        background: Background,
        *,
        clock: Clock,
        ids: Ids,
        numbers: Numbers,
    ) -> None:
        self._store = store
        self._actors = actors
        self._reconciler = reconciler
        self._dispatcher = dispatcher
        self._directory = directory
        self._background = background
        self._replays = Replays(store, background, clock=clock, ids=ids)
        self._decided: OrderedDict[DeliveryRowId, None] = OrderedDict()
        self._clock = clock
        self._ids = ids
        self._numbers = numbers

    async def accept(self, slug: str, command: wire.AcceptDelivery) -> wire.DeliveryAnswer:
        """Record a verified delivery and, if it asks for one, its run: one decision, one commit.

        A run that is executable at once is handed over before the answer, for nothing is sure to run after it.

        Raises:
            NotFound: there is no such project.
            AnvilError: see `rules.deliveries.check` and `Actors.decide`.
        """
        recorded = await self._directory.at(slug, lambda project_id: self._record(project_id, command))
        await self._follow(recorded)
        return wire.DeliveryAnswer(
            outcome=recorded.row.outcome,
            note=recorded.row.note,
            duplicate=recorded.duplicate,
            run_id=recorded.row.run_id,
            first_seen_at=recorded.row.received_at,
        )

    async def page(self, slug: str, query: wire.DeliveryQuery) -> Page[wire.Delivery]:
        """A project's deliveries, newest first; expired ones stay listed until they are deleted.

        Raises:
            NotFound: there is no such project.
        """
        return await self._directory.at(slug, lambda project_id: self._list(project_id, query))

    async def newest(self, project_id: ProjectId, provider: str, *, limit: int) -> tuple[wire.Delivery, ...]:
        """The newest deliveries of one webhook."""
        query = wire.DeliveryQuery(provider=wire.Provider(provider), page_size=limit)
        return (await self._list(project_id, query)).items

    async def show(self, slug: str, delivery_id: DeliveryRowId) -> wire.Delivery:
        """
        Raises:
            NotFound: there is no such delivery in this project.
        """
        return await self._directory.at(slug, lambda project_id: self._show(project_id, delivery_id))

    async def _record(self, project_id: ProjectId, command: wire.AcceptDelivery) -> Recorded:
        canonical = command.canonical
        row_id = delivery_row_id(project_id, canonical.provider, canonical.delivery_id)

        def rule(view: View) -> Decision[Recorded]:
            found = view.held(DELIVERIES, row_id)
            recorded = deliveries.decide(
                view.project.value,
                None if found is None else found.value,
                command,
                now=self._clock.now(),
                numbers=self._numbers,
            )
            return Decision(answer=recorded, project=recorded.project, writes=self._writes(recorded, found))

        def needs(_: Project) -> Sequence[Ref]:
            return [DELIVERIES.ref(row_id)]

        recorded = None
        if row_id in self._decided:
            recorded = await self._actors.answer(project_id, rule, needs=needs)
        if recorded is None:
            recorded = await self._actors.decide(project_id, rule, needs=needs, creates=True)
        self._remember(row_id)
        return recorded

    def _remember(self, row_id: DeliveryRowId) -> None:
        """That it was decided here; whoever sends it again most likely gets the stored outcome."""
        self._decided[row_id] = None
        self._decided.move_to_end(row_id)
        if len(self._decided) > _REMEMBERED:
            self._decided.popitem(last=False)

    def _writes(self, recorded: Recorded, found: Held[Delivery] | None) -> tuple[Write, ...]:
        row_id, row = recorded.row.row_id, recorded.row
        if found is not None and row == found.value:
            return ()
        if found is None:
            writes: list[Write] = [DELIVERIES.create(row_id, row, ids=self._ids)]
        else:
            writes = [DELIVERIES.replace(row_id, row, at=found.version, ids=self._ids)]
        if recorded.run is not None:
            writes.append(RUNS.create(recorded.run.run_id, recorded.run, ids=self._ids))
        if recorded.ref_event is not None and recorded.run is not None:
            writes.append(REF_EVENTS.create(recorded.run.run_id, recorded.ref_event, ids=self._ids))
        return tuple(writes)

    async def _follow(self, recorded: Recorded) -> None:
        run = recorded.run
        if run is not None and run.timers.dispatch is not None:
            # Before the answer: an instance without requests may get no more time.
            self._background.follow(self._reconciler.settle(run, await self._dispatcher.hand_over(run)))
        elif recorded.duplicate:
            self._replays.count(recorded.row.row_id)
        elif recorded.row.run_id is not None:
            self._background.follow(self._reconciler.follow(recorded.row.run_id))

    async def _list(self, project_id: ProjectId, query: wire.DeliveryQuery) -> Page[wire.Delivery]:
        await self._actors.read(project_id)
        given = query.model_dump(include=set(DELIVERY_FILTERS), exclude_none=True, by_alias=False)
        where = [Where("project_id", Op.EQUAL, project_id)]
        where += [Where(name, Op.EQUAL, str(value)) for name, value in given.items()]
        where += [Where("received_at", Op.AT_LEAST, query.since)] if query.since else []
        where += [Where("received_at", Op.LESS, query.until)] if query.until else []
        asked = paging.query(DELIVERIES.collection, query, by=DELIVERIES_OF_PROJECT[0].order[0], where=where)
        return paging.page(asked, await self._store.query(asked), _shown)

    async def _show(self, project_id: ProjectId, delivery_id: DeliveryRowId) -> wire.Delivery:
        (snapshot,) = await self._store.get([DELIVERIES.ref(delivery_id)])
        held = DELIVERIES.load_if(snapshot)
        if held is None or held.value.project_id != project_id or held.value.expires_at <= self._clock.now():
            raise NotFound(f"there is no delivery {delivery_id}")
        return views.delivery(held.value)


def _shown(snapshot: Snapshot) -> wire.Delivery:
    return views.delivery(DELIVERIES.load(snapshot).value)
