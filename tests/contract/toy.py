"""A store that somebody else might bring: one file of JSON under a lock, and no word of Anvil's adapters but its rules.

It is what a package names as its entry point in the group `anvil.ledger_backends`.
"""

import asyncio
import fcntl
import os
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import TypeAlias

import orjson

from services.coordinator.ledger.backend import Backend, Opening
from services.kernel.adapters import sqlite_spans
from services.kernel.adapters.document_rules import check_ref, check_writes, stored
from services.kernel.adapters.query_shapes import Declared
from services.kernel.adapters.sqlite_codec import decode, encode
from services.kernel.errors import AlreadyExists, PreconditionFailed
from services.kernel.namespace import stored_collection
from services.kernel.ports import Create, Delete, Index, Query, Ref, Replace, Snapshot, Version, Write

Rows: TypeAlias = dict[str, tuple[int, str]]
"""Version and content of each document, by its stored path."""


class ToyStore:
    """Implements `ports.Store`. A version is the number of the commit in this file."""

    def __init__(self, path: Path, *, namespace: str, indexes: Sequence[Index]) -> None:
        self._path = path
        self._namespace = namespace
        self._declared = Declared(indexes, namespace=namespace)

    async def get(self, refs: Sequence[Ref], *, fields: Sequence[str] | None = None) -> list[Snapshot | None]:
        places = [stored(ref, namespace=self._namespace) for ref in refs]
        for place in places:
            check_ref(place)
        async with self._alone() as (_, rows):
            found = [rows.get(_name(place)) for place in places]
        pairs = zip(refs, found, strict=True)
        return [None if row is None else _snapshot(ref, row, fields) for ref, row in pairs]

    async def commit(self, writes: Sequence[Write]) -> list[Version]:
        placed = [replace(write, ref=stored(write.ref, namespace=self._namespace)) for write in writes]
        check_writes(placed)
        async with self._alone() as (commits, rows):
            versions = [_apply(rows, write, commits + 1) for write in placed]
            self._keep(commits + 1, rows)
        return [Version(str(version)) for version in versions]

    async def query(self, query: Query) -> list[Snapshot]:
        index = self._declared.index_for(query)
        collection = stored_collection(self._namespace, query.collection)
        span = sqlite_spans.span_of(index, query, collection)
        async with self._alone() as (_, rows):
            named = [(name.rpartition("/"), row) for name, row in rows.items()]
        found = [(Ref(collection, id_), row) for (path, _, id_), row in named if path == collection]
        keyed = [(sqlite_spans.key_of(index, ref, decode(row[1].encode())), ref, row) for ref, row in found]
        within = sorted(
            (key, ref.id, row) for key, ref, row in keyed if key is not None and span.low <= key < span.high
        )
        return [_snapshot(Ref(query.collection, id_), row, query.fields) for _, id_, row in within[: query.limit]]

    @asynccontextmanager
    async def _alone(self) -> AsyncGenerator[tuple[int, Rows]]:
        """How many commits there were, and what they left."""
        await asyncio.sleep(0)  # Others of this process have their turn, too.
        with self._path.with_suffix(".lock").open("ab") as gate:
            fcntl.flock(gate, fcntl.LOCK_EX)
            yield orjson.loads(self._path.read_bytes()) if self._path.exists() else (0, {})

    def _keep(self, commits: int, rows: Rows) -> None:
        written = self._path.with_suffix(".new")
        written.write_bytes(orjson.dumps((commits, rows)))
        os.replace(written, self._path)


def open_backend(told: Opening) -> Backend:
    """The entry point: the file is named by a variable of the owner's."""
    path = Path(told.variables["TOY_LEDGER_FILE"])
    durable = told.variables.get("TOY_LEDGER_DURABLE") == "yes"
    store = ToyStore(path, namespace=told.namespace, indexes=told.indexes)
    return Backend(name="toy", store=store, durable=durable, close=_nothing_to_close)


async def _nothing_to_close() -> None:
    return


def _name(ref: Ref) -> str:
    return f"{ref.collection}/{ref.id}"


def _apply(rows: Rows, write: Write, number: int) -> int:
    name, found = _name(write.ref), rows.get(_name(write.ref))
    match write:
        case Create(data=data):
            if found is not None:
                raise AlreadyExists(f"{name} exists")
            rows[name] = (number, encode(data).decode())
        case Replace(data=data, if_version=version):
            old = _expected(name, found, version)
            if old[1] == encode(data).decode():
                return old[0]
            rows[name] = (number, encode(data).decode())
        case Delete(if_version=version):
            _expected(name, found, version)
            del rows[name]
    return number


def _expected(name: str, found: tuple[int, str] | None, version: Version) -> tuple[int, str]:
    if found is None or str(found[0]) != version:
        raise PreconditionFailed(f"{name} is not at version {version}")
    return found


def _snapshot(ref: Ref, row: tuple[int, str], fields: Sequence[str] | None) -> Snapshot:
    data = decode(row[1].encode())
    kept = data if fields is None else {name: data[name] for name in fields if name in data}
    return Snapshot(ref=ref, version=Version(str(row[0])), data=kept)
