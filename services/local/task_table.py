"""The tasks of a local stack, on disk: what waits, and for an hour the names of what was done."""

import sqlite3
from concurrent.futures import Executor
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

from services.kernel.adapters.sqlite_file import SqliteFile, transaction
from services.kernel.adapters.task_message import TaskMessage
from services.kernel.ports import Target

TOMBSTONE = timedelta(hours=1)
"""How long the name of a finished task stays taken; Cloud Tasks promises no less."""

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)

_SCHEMA = """
CREATE TABLE IF NOT EXISTS tasks (
  number INTEGER PRIMARY KEY,
  name TEXT NOT NULL UNIQUE,
  target TEXT NOT NULL,
  message TEXT NOT NULL,
  due INTEGER NOT NULL,
  attempts INTEGER NOT NULL DEFAULT 0,
  done INTEGER
);
CREATE INDEX IF NOT EXISTS waiting ON tasks (target, due, number) WHERE done IS NULL;
CREATE INDEX IF NOT EXISTS tombstones ON tasks (done) WHERE done IS NOT NULL;
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class WaitingTask:
    """A task that was not acknowledged yet; `attempts` is how often it was answered by anything else."""

    message: TaskMessage
    due: datetime
    attempts: int


class TaskTable:
    """Times in it are microseconds since 1970. Every method raises `Unavailable` if the file cannot be used now."""

    def __init__(self, path: Path, *, executor: Executor) -> None:
        self._file = SqliteFile(path, executor=executor, prepare=_prepare)

    async def add(self, message: TaskMessage, *, now: datetime) -> None:
        """Keep the task, unless its name is taken by one that waits or was done within the last hour."""
        due = _number(max(now, message.not_before or now))
        row = (message.name, message.target, message.model_dump_json(), due)

        def add(connection: sqlite3.Connection) -> None:
            connection.execute("DELETE FROM tasks WHERE done <= ?", (_number(now - TOMBSTONE),))
            connection.execute("INSERT OR IGNORE INTO tasks (name, target, message, due) VALUES (?, ?, ?, ?)", row)

        await self._file.write(add)

    async def waiting(self, target: Target, *, limit: int) -> list[WaitingTask]:
        """The target's first tasks, by the time they are due."""
        question = (
            "SELECT message, due, attempts FROM tasks WHERE done IS NULL AND target = ? ORDER BY due, number LIMIT ?"
        )
        found = await self._file.read(lambda connection: connection.execute(question, (target, limit)).fetchall())
        return [
            WaitingTask(message=TaskMessage.model_validate_json(message), due=_moment(due), attempts=attempts)
            for message, due, attempts in found
        ]

    async def finish(self, name: str, *, now: datetime) -> None:
        """The task was acknowledged: only its name is left."""
        change = ("UPDATE tasks SET done = ? WHERE name = ?", (_number(now), name))
        await self._file.write(lambda connection: connection.execute(*change))

    async def postpone(self, name: str, *, due: datetime) -> None:
        """The task was not acknowledged: it is due again, one attempt older."""
        change = ("UPDATE tasks SET due = ?, attempts = attempts + 1 WHERE name = ?", (_number(due), name))
        await self._file.write(lambda connection: connection.execute(*change))

    def close(self) -> None:
        self._file.close()


def _prepare(connection: sqlite3.Connection) -> None:
    if connection.execute("SELECT 1 FROM sqlite_schema WHERE name = 'tombstones'").fetchone() is None:
        with transaction(connection):
            for statement in _SCHEMA.split(";"):
                connection.execute(statement)


def _number(moment: datetime) -> int:
    return (moment - _EPOCH) // timedelta(microseconds=1)


def _moment(number: int) -> datetime:
    return _EPOCH + timedelta(microseconds=number)
