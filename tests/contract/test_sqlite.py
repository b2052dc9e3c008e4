"""What only the SQLite store has: a file, its locks, a clock that may go back, and indexes that come later."""

import sqlite3
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from services.kernel.adapters.clock import SystemClock
from services.kernel.adapters.sqlite import SqliteStore
from services.kernel.adapters.sqlite_file import SqliteFile
from services.kernel.adapters.sqlite_rows import SCAN
from services.kernel.errors import Ambiguous, Unavailable
from services.kernel.ports import Create, Index, Order, Query, Replace
from tests.contract.stores import INDEXES, content, document, read, thing

pytestmark = pytest.mark.anyio


class StoppedClock(SystemClock):
    def __init__(self, moment: datetime) -> None:
        self.moment = moment

    def now(self) -> datetime:
        return self.moment


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "store.db"


@pytest.fixture
def executor() -> Iterator[ThreadPoolExecutor]:
    with ThreadPoolExecutor(2) as threads:
        yield threads


async def test_versions_rise_while_the_clock_stands_still_or_goes_back(
    path: Path, executor: ThreadPoolExecutor
) -> None:
    clock = StoppedClock(datetime(2026, 11, 30, tzinfo=UTC))
    store = SqliteStore(path, namespace="test", indexes=INDEXES, executor=executor, clock=clock)
    (first,) = await store.commit([Create(thing("a"), document())])
    (second,) = await store.commit([Replace(thing("a"), document(), first)])
    clock.moment -= timedelta(days=1)
    (third,) = await store.commit([Replace(thing("a"), document(), second)])
    store.close()

    assert [int(second) - int(first), int(third) - int(second)] == [1, 1]


async def test_a_file_that_stays_locked_is_unavailable_and_unchanged(path: Path, executor: ThreadPoolExecutor) -> None:
    store = SqliteStore(
        path,
        namespace="test",
        indexes=INDEXES,
        executor=executor,
        clock=SystemClock(),
        busy_wait=timedelta(milliseconds=20),
    )
    (version,) = await store.commit([Create(thing("a"), document(n=1))])
    other = sqlite3.connect(path, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")

    with pytest.raises(Unavailable):
        await store.commit([Replace(thing("a"), document(n=2), version)])
    assert content((await read(store, thing("a"))).data) == {"n": 1}

    other.close()
    await store.commit([Replace(thing("a"), document(n=3), version)])
    store.close()


async def test_a_directory_that_is_away_is_unavailable(tmp_path: Path, executor: ThreadPoolExecutor) -> None:
    store = SqliteStore(
        tmp_path / "away" / "store.db", namespace="test", indexes=INDEXES, executor=executor, clock=SystemClock()
    )
    with pytest.raises(Unavailable):
        await store.get([thing("a")])

    (tmp_path / "away").mkdir()
    assert await store.get([thing("a")]) == [None]
    store.close()


async def test_a_commit_that_fails_at_its_end_is_ambiguous(path: Path, executor: ThreadPoolExecutor) -> None:
    file = SqliteFile(path, executor=executor, prepare=_break_commits)

    with pytest.raises(Ambiguous):
        await file.write(lambda connection: connection.execute("CREATE TABLE lost (a)"))
    file.close()


def _break_commits(connection: sqlite3.Connection) -> None:
    """Let the connection refuse `COMMIT`, as a disk does that fails at that moment."""

    def allow(action: int, argument: str | None, *_: str | None) -> int:
        return (
            sqlite3.SQLITE_DENY if (action, argument) == (sqlite3.SQLITE_TRANSACTION, "COMMIT") else sqlite3.SQLITE_OK
        )

    connection.set_authorizer(allow)


async def test_an_index_declared_later_finds_what_is_already_there_and_is_kept_by_older_processes(
    path: Path, executor: ThreadPoolExecutor
) -> None:
    index = Index(collection="things", order=(Order("size"),))
    older = SqliteStore(path, namespace="test", indexes=(), executor=executor, clock=SystemClock())
    await older.commit([Create(thing("before"), document(size=2)), Create(thing("without"), document())])
    newer = SqliteStore(path, namespace="test", indexes=[index], executor=executor, clock=SystemClock())
    query = Query(collection="things", order=(Order("size"),))

    assert [snapshot.ref.id for snapshot in await newer.query(query)] == ["before"]
    await older.commit([Create(thing("after"), document(size=1))])
    assert [snapshot.ref.id for snapshot in await newer.query(query)] == ["after", "before"]
    older.close()
    newer.close()


async def test_a_query_reads_a_span_of_an_index_and_no_more(path: Path, executor: ThreadPoolExecutor) -> None:
    store = SqliteStore(path, namespace="test", indexes=INDEXES, executor=executor, clock=SystemClock())
    await store.get([])
    store.close()

    plan = sqlite3.connect(path).execute(f"EXPLAIN QUERY PLAN {SCAN}", ("shape", b"1", b"2", 3))
    steps = [step for _, _, _, step in plan]
    assert not [step for step in steps if step.startswith("SCAN") or "TEMP B-TREE" in step], steps
