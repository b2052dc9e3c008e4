"""Documents and their index entries as rows of one file; every function works inside its caller's transaction.

The indexes are the file's own: each process adds those it declares, and every writer maintains all that were ever
added, so that an older process beside a newer one leaves no gaps. Paths here are stored paths.
"""

import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from services.kernel.adapters import query_shapes as shapes
from services.kernel.adapters.sqlite_codec import decode, encode
from services.kernel.adapters.sqlite_file import transaction
from services.kernel.adapters.sqlite_spans import Span, key_of
from services.kernel.ports import Document, Index, Ref

_SCHEMA = """
CREATE TABLE IF NOT EXISTS moment (only INTEGER PRIMARY KEY CHECK (only = 1), last INTEGER NOT NULL);
INSERT OR IGNORE INTO moment VALUES (1, 0);
CREATE TABLE IF NOT EXISTS documents (
  row INTEGER PRIMARY KEY,
  collection TEXT NOT NULL,
  id TEXT NOT NULL,
  version INTEGER NOT NULL,
  data BLOB NOT NULL,
  UNIQUE (collection, id)
);
CREATE TABLE IF NOT EXISTS indexes (number INTEGER PRIMARY KEY, shape TEXT NOT NULL UNIQUE);
CREATE TABLE IF NOT EXISTS entries (
  number INTEGER NOT NULL,
  key BLOB NOT NULL,
  row INTEGER NOT NULL,
  PRIMARY KEY (number, key)
) WITHOUT ROWID;
"""

SCAN = """
SELECT row, id, version, data
FROM indexes JOIN entries USING (number) JOIN documents USING (row)
WHERE shape = ? AND key >= ? AND key < ? ORDER BY key LIMIT ?
"""
"""One range of one index: nothing is read that is not in the answer."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """A stored document; `version` is its update time in microseconds since 1970."""

    row: int
    ref: Ref
    version: int
    data: bytes


def prepare(connection: sqlite3.Connection, declared: Sequence[Index]) -> None:
    """Make the tables and fill the indexes that this file does not have yet."""
    if _has_tables(connection) and not _missing(connection, declared):
        return
    with transaction(connection):
        for statement in _SCHEMA.split(";"):
            connection.execute(statement)
        for index in _missing(connection, declared):
            _add_index(connection, index)


def next_moment(connection: sqlite3.Connection, now: int) -> int:
    """`now`, or the first microsecond that no commit to this file ever had."""
    connection.execute("UPDATE moment SET last = max(last + 1, ?)", (now,))
    (moment,) = connection.execute("SELECT last FROM moment").fetchone()
    return int(moment)


def find(connection: sqlite3.Connection, ref: Ref) -> Row | None:
    rows = connection.execute(
        "SELECT row, id, version, data FROM documents WHERE collection = ? AND id = ?", (ref.collection, ref.id)
    )
    return next(_rows(rows, ref.collection), None)


def scan(connection: sqlite3.Connection, index: Index, span: Span, *, collection: str, limit: int) -> list[Row]:
    """The first `limit` documents of the span, in the index's order."""
    rows = connection.execute(SCAN, (shapes.dump(index), span.low, span.high, limit))
    return list(_rows(rows, collection))


def insert(connection: sqlite3.Connection, ref: Ref, data: Document, *, version: int) -> None:
    cursor = connection.execute(
        "INSERT INTO documents (collection, id, version, data) VALUES (?, ?, ?, ?)",
        (ref.collection, ref.id, version, encode(data)),
    )
    assert cursor.lastrowid is not None
    _enter(connection, cursor.lastrowid, _keys(connection, ref, data))


def update(connection: sqlite3.Connection, old: Row, data: Document, *, version: int) -> None:
    connection.execute("UPDATE documents SET version = ?, data = ? WHERE row = ?", (version, encode(data), old.row))
    before, now = _keys(connection, old.ref, decode(old.data)), _keys(connection, old.ref, data)
    _leave(connection, before.items() - now.items())
    _enter(connection, old.row, dict(now.items() - before.items()))


def delete(connection: sqlite3.Connection, old: Row) -> None:
    connection.execute("DELETE FROM documents WHERE row = ?", (old.row,))
    _leave(connection, _keys(connection, old.ref, decode(old.data)).items())


def _has_tables(connection: sqlite3.Connection) -> bool:
    return connection.execute("SELECT 1 FROM sqlite_schema WHERE name = 'entries'").fetchone() is not None


def _missing(connection: sqlite3.Connection, declared: Sequence[Index]) -> list[Index]:
    known = {shape for (shape,) in connection.execute("SELECT shape FROM indexes")}
    return [index for index in declared if shapes.dump(index) not in known]


def _add_index(connection: sqlite3.Connection, index: Index) -> None:
    insertion = "INSERT OR IGNORE INTO indexes (shape) VALUES (?) RETURNING number"
    for (number,) in connection.execute(insertion, (shapes.dump(index),)).fetchall():
        for collection in _collections(connection, index):
            rows = connection.execute(
                "SELECT row, id, version, data FROM documents WHERE collection = ?", (collection,)
            )
            for row in list(_rows(rows, collection)):
                if (key := key_of(index, row.ref, decode(row.data))) is not None:
                    _enter(connection, row.row, {number: key})


def _collections(connection: sqlite3.Connection, index: Index) -> list[str]:
    found = connection.execute("SELECT DISTINCT collection FROM documents").fetchall()
    return [collection for (collection,) in found if shapes.pattern(collection) == index.collection]


def _keys(connection: sqlite3.Connection, ref: Ref, data: Document) -> Mapping[int, bytes]:
    """The document's key in each index that has it, by the index's number."""
    found: dict[int, bytes] = {}
    pattern = shapes.pattern(ref.collection)
    for number, text in connection.execute("SELECT number, shape FROM indexes"):
        index = shapes.load(text)
        if index.collection == pattern:
            key = key_of(index, ref, data)
            if key is not None:
                found[number] = key
    return found


def _enter(connection: sqlite3.Connection, row: int, keys: Mapping[int, bytes]) -> None:
    connection.executemany("INSERT INTO entries VALUES (?, ?, ?)", [(number, key, row) for number, key in keys.items()])


def _leave(connection: sqlite3.Connection, keys: Iterable[tuple[int, bytes]]) -> None:
    connection.executemany("DELETE FROM entries WHERE number = ? AND key = ?", keys)


def _rows(rows: Iterable[tuple[int, str, int, bytes]], collection: str) -> Iterator[Row]:
    for row, name, version, data in rows:
        yield Row(row=row, ref=Ref(collection, name), version=version, data=data)
