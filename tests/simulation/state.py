"""Everything that is stored, as values, at one committed state."""

import re
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import TypeVar, cast

from services.coordinator.records.delivery import DELIVERIES, REF_EVENTS, Delivery, RefEvent
from services.coordinator.records.project import PROJECTS, Project
from services.coordinator.records.row import RUN_INDEX, Row
from services.coordinator.records.run import HEARTBEATS, RUNS, Heartbeat, LogChunk, Run
from services.coordinator.records.table import Table
from services.kernel.ports import Create, Delete, Document, Ref, Replace, Snapshot, Version, Write

Record = TypeVar("Record")

_LOG = re.compile(r"runs/([^/]+)/log")
_CHUNKS = Table("runs/*/log", LogChunk, schema=1)


class State:
    """A value: a commit makes another one of it. What was once read of a document is `known` to all that follow."""

    def __init__(
        self,
        documents: Mapping[Ref, Document] | None = None,
        known: dict[Ref, tuple[Document, object]] | None = None,
    ) -> None:
        self.documents: Mapping[Ref, Document] = documents or {}
        self._known = {} if known is None else known

    def after(self, writes: Sequence[Write]) -> "State":
        documents = dict(self.documents)
        for write in writes:
            match write:
                case Create(ref=ref, data=data) | Replace(ref=ref, data=data):
                    documents[ref] = data
                case Delete(ref=ref):
                    documents.pop(ref, None)
        return State(documents, self._known)

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

    @cached_property
    def logs(self) -> Mapping[str, Sequence[LogChunk]]:
        """By run, in the order of their numbers."""
        found: dict[str, list[LogChunk]] = {}
        for ref, data in self.documents.items():
            if (log := _LOG.fullmatch(ref.collection)) is not None:
                found.setdefault(log[1], []).append(self._read(_CHUNKS, ref, data))
        return {run_id: sorted(chunks, key=lambda each: each.seq) for run_id, chunks in found.items()}

    def owned_by(self, project: Project) -> list[Run]:
        return [run for run in self.runs.values() if run.project_id == project.project_id]

    def _all(self, table: Table[Record]) -> Mapping[str, Record]:
        found = {ref: data for ref, data in self.documents.items() if ref.collection == table.collection}
        return {ref.id: self._read(table, ref, data) for ref, data in found.items()}

    def _read(self, table: Table[Record], ref: Ref, data: Document) -> Record:
        known = self._known.get(ref)
        if known is None or known[0] is not data:
            value = table.load(Snapshot(ref=ref, version=Version("0"), data=data)).value
            known = self._known[ref] = (data, value)
        return cast("Record", known[1])
