"""The store on one SQLite file: the embedded default."""

import sqlite3
from collections.abc import Sequence
from concurrent.futures import Executor
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path

from services.kernel.adapters import sqlite_rows as rows
from services.kernel.adapters.document_rules import check_ref, check_writes, stored
from services.kernel.adapters.query_shapes import Declared, dump
from services.kernel.adapters.sqlite_codec import decode, encode
from services.kernel.adapters.sqlite_file import BUSY_WAIT, SqliteFile
from services.kernel.adapters.sqlite_spans import span_of
from services.kernel.errors import AlreadyExists, PreconditionFailed
from services.kernel.namespace import stored_collection
from services.kernel.ports import Clock, Create, Delete, Index, Query, Ref, Replace, Snapshot, Version, Write

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


class SqliteStore:
    """Documents of one deployment namespace; several may share a file.

    A version is a commit's time in microseconds, moved on where the clock stands still or goes back, so that none ever
    recurs in a file. `get` and `query` refuse names and values that no document could have, with `Invalid`. Without a
    path the documents are in memory, which an executor of one thread shares out.
    """

    def __init__(
        self,
        path: Path | None,
        *,
        namespace: str,
        indexes: Sequence[Index],
        executor: Executor,
        clock: Clock,
        busy_wait: timedelta = BUSY_WAIT,
    ) -> None:
        self._namespace = namespace
        self._clock = clock
        self._declared = Declared(indexes, namespace=namespace)
        prepare = partial(rows.prepare, declared=sorted(self._declared.indexes, key=dump))
        self._file = SqliteFile(path, executor=executor, prepare=prepare, busy_wait=busy_wait)

    async def get(self, refs: Sequence[Ref], *, fields: Sequence[str] | None = None) -> list[Snapshot | None]:
        places = [stored(ref, namespace=self._namespace) for ref in refs]
        for place in places:
            check_ref(place)
        found = await self._file.read(lambda connection: [rows.find(connection, place) for place in places])
        pairs = zip(refs, found, strict=True)
        return [None if row is None else _snapshot(ref, row, fields=fields) for ref, row in pairs]

    async def commit(self, writes: Sequence[Write]) -> list[Version]:
        placed = [replace(write, ref=stored(write.ref, namespace=self._namespace)) for write in writes]
        check_writes(placed)
        now = (self._clock.now() - _EPOCH) // timedelta(microseconds=1)
        return await self._file.write(lambda connection: _apply_all(connection, placed, now=now)) if placed else []

    async def query(self, query: Query) -> list[Snapshot]:
        index = self._declared.index_for(query)
        collection = stored_collection(self._namespace, query.collection)
        span = span_of(index, query, collection)
        found = await self._file.read(
            lambda connection: rows.scan(connection, index, span, collection=collection, limit=query.limit)
        )
        return [_snapshot(Ref(query.collection, row.ref.id), row, fields=query.fields) for row in found]

    def close(self) -> None:
        """Let the file go; the executor is its owner's to shut down, before."""
        self._file.close()


def _apply_all(connection: sqlite3.Connection, writes: Sequence[Write], *, now: int) -> list[Version]:
    moment = rows.next_moment(connection, now)
    return [_version(_apply(connection, write, moment=moment)) for write in writes]


def _apply(connection: sqlite3.Connection, write: Write, *, moment: int) -> int:
    """Do one write if the document is as it expects; a replacement by the same content keeps its version."""
    found = rows.find(connection, write.ref)
    match write:
        case Create(ref=ref, data=data):
            if found is not None:
                raise AlreadyExists(f"{ref.collection}/{ref.id} exists.")
            rows.insert(connection, ref, data, version=moment)
        case Replace(data=data):
            old = _expected(write, found)
            if old.data == encode(data):
                return old.version
            rows.update(connection, old, data, version=moment)
        case Delete():
            rows.delete(connection, _expected(write, found))
    return moment


def _expected(write: Replace | Delete, found: rows.Row | None) -> rows.Row:
    if found is None or _version(found.version) != write.if_version:
        actual = "missing" if found is None else f"at version {found.version}"
        name = f"{write.ref.collection}/{write.ref.id}"
        raise PreconditionFailed(f"{name} is {actual}, not at version {write.if_version}.")
    return found


def _version(moment: int) -> Version:
    return Version(str(moment))


def _snapshot(ref: Ref, row: rows.Row, *, fields: Sequence[str] | None = None) -> Snapshot:
    data = decode(row.data)
    kept = data if fields is None else {name: data[name] for name in fields if name in data}
    return Snapshot(ref=ref, version=_version(row.version), data=kept)
