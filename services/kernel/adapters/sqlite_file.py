"""One SQLite file used by many tasks and many processes.

Write-ahead log, every commit on disk before it is acknowledged. All work runs on the executor given, so the event
loop never waits for a disk. A connection belongs to one job at a time and is kept for the next; any executor of
threads will do, and there are never more connections than it has threads. Writers of one process wait in line here, so
that only other processes are met at the file's own lock, where the wait is bounded: then `Unavailable`.
"""

import asyncio
import fcntl
import sqlite3
from collections.abc import Callable, Generator
from concurrent.futures import Executor
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from typing import TypeVar

from services.kernel.errors import Ambiguous, Unavailable

T = TypeVar("T")
Job = Callable[[sqlite3.Connection], T]

BUSY_WAIT = timedelta(seconds=2)


class SqliteFile:
    """The file at `path`, or memory without one, which is as old as its connection and needs an executor of one thread.

    `prepare` runs once on each new connection, outside any transaction.
    """

    def __init__(
        self, path: Path | None, *, executor: Executor, prepare: Job[None], busy_wait: timedelta = BUSY_WAIT
    ) -> None:
        self._path = path
        self._executor = executor
        self._prepare = prepare
        self._busy_wait = busy_wait
        self._idle: list[sqlite3.Connection] = []
        self._writing = asyncio.Lock()

    async def read(self, job: Job[T]) -> T:
        """Run `job` on one consistent state of the file.

        Raises:
            Unavailable: the file cannot be read now.
        """
        return await self._on_thread(lambda connection: _reading(connection, job))

    async def write(self, job: Job[T]) -> T:
        """Run `job` as the only writer and commit what it did; if it raises, nothing was done.

        Raises:
            Unavailable: the file cannot be written now; nothing was done.
            Ambiguous: the commit itself failed.
        """
        async with self._writing:
            return await self._on_thread(lambda connection: _writing(connection, job))

    def close(self) -> None:
        """Close what no job is using; the file may be used again."""
        while self._idle:
            self._idle.pop().close()

    async def _on_thread(self, job: Job[T]) -> T:
        return await asyncio.get_running_loop().run_in_executor(self._executor, self._run, job)

    def _run(self, job: Job[T]) -> T:
        try:
            with self._connection() as connection:
                return job(connection)
        except (sqlite3.OperationalError, OSError) as error:
            raise Unavailable(f"The store's file cannot be used now: {error}.") from error

    @contextmanager
    def _connection(self) -> Generator[sqlite3.Connection]:
        """An idle connection or a new one; one that an error left inside a transaction is not used again."""
        try:
            connection = self._idle.pop()
        except IndexError:
            connection = self._open()
        try:
            yield connection
        finally:
            if connection.in_transaction:
                connection.close()
            else:
                self._idle.append(connection)

    def _open(self) -> sqlite3.Connection:
        connection = sqlite3.connect(
            self._path or ":memory:",
            timeout=self._busy_wait.total_seconds(),
            isolation_level=None,
            check_same_thread=False,
        )
        try:
            with _alone(self._path):
                connection.execute("PRAGMA journal_mode = WAL")
                connection.execute("PRAGMA synchronous = FULL")
                self._prepare(connection)
        except BaseException:
            connection.close()
            raise
        return connection


@contextmanager
def _alone(path: Path | None) -> Generator[None]:
    """One opener at a time: two that turn a new file to the write-ahead log together meet a lock that does not wait."""
    if path is None:
        yield
        return
    with path.with_name(f"{path.name}-open").open("ab") as gate:
        fcntl.flock(gate, fcntl.LOCK_EX)
        yield


@contextmanager
def transaction(connection: sqlite3.Connection) -> Generator[None]:
    """The only writer of the file, until it commits; an exception undoes everything."""
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield
    except BaseException:
        connection.execute("ROLLBACK")
        raise
    try:
        connection.execute("COMMIT")
    except sqlite3.DatabaseError as error:
        raise Ambiguous(f"The store's file failed during a commit: {error}.") from error


def _writing(connection: sqlite3.Connection, job: Job[T]) -> T:
    with transaction(connection):
        return job(connection)


def _reading(connection: sqlite3.Connection, job: Job[T]) -> T:
    connection.execute("BEGIN")
    try:
        return job(connection)
    finally:
        connection.execute("ROLLBACK")
