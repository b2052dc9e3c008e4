"""Everything that is stored, as values, at one committed state."""

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import TypeVar

from services.coordinator.records.delivery import DELIVERIES, REF_EVENTS, Delivery, RefEvent
from services.coordinator.records.project import PROJECTS, Project
from services.coordinator.records.row import RUN_INDEX, Row
from services.coordinator.records.run import HEARTBEATS, RUNS, Heartbeat, Run
from services.coordinator.records.table import Table
from services.kernel.ports import Create, Delete, Document, Ref, Replace, Snapshot, Version, Write

Record = TypeVar("Record")


class State:
    """A value: a commit makes another one of it."""

    def __init__(self, documents: Mapping[Ref, Document] | None = None) -> None:
        self.documents: Mapping[Ref, Document] = documents or {}

    def after(self, writes: Sequence[Write]) -> "State":
        documents = dict(self.documents)
        for write in writes:
            match write:
                case Create(ref=ref, data=data) | Replace(ref=ref, data=data):
                    documents[ref] = data
                case Delete(ref=ref):
                    documents.pop(ref, None)
        return State(documents)

    @cached_property
    def projects(self) -> Mapping[str, Project]:
        return self._all(PROJECTS)

    @cached_property
    def runs(self) -> Mapping[str, Run]:
        return self._all(RUNS)

    @cached_property
    def leases(self) -> Mapping[str, Heartbeat]:
        return self._all(HEARTBEATS)

    @cached_property
    def rows(self) -> Mapping[str, Row]:
        return self._all(RUN_INDEX)

    @cached_property
    def deliveries(self) -> Mapping[str, Delivery]:
        return self._all(DELIVERIES)

    @cached_property
    def ref_events(self) -> Mapping[str, RefEvent]:
        return self._all(REF_EVENTS)

    def owned_by(self, project: Project) -> list[Run]:
        return [run for run in self.runs.values() if run.project_id == project.project_id]

    def _all(self, table: Table[Record]) -> Mapping[str, Record]:
        return {
            ref.id: table.load(Snapshot(ref=ref, version=Version("0"), data=data)).value
            for ref, data in self.documents.items()
            if ref.collection == table.collection
        }
