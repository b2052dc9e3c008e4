"""What only the local queue has: a server that can be away, callers to tell apart, and a table with tombstones."""

import asyncio
from collections.abc import AsyncIterator, Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from pathlib import Path

import httpx2
import pytest

from services.kernel.adapters.local_tasks import LocalTasks
from services.kernel.adapters.task_message import TaskMessage
from services.kernel.errors import Ambiguous, TaskRejected, Unavailable
from services.kernel.ports import Target, Task
from services.local.pump import Backoff
from services.local.task_table import TaskTable
from tests.contract.queues import LocalQueue, client_of, local_queue

pytestmark = pytest.mark.anyio

TASK = Task(target=Target.RUNNER, path="/tasks/x", body={}, name="t")
MESSAGE = TaskMessage(target=Target.RUNNER, path="/tasks/x", body={}, name="t")
NOON = datetime(2026, 11, 30, 12, tzinfo=UTC)
NOWHERE = dict.fromkeys(Target, "http://127.0.0.1:9")


@pytest.fixture
async def http() -> AsyncIterator[httpx2.AsyncClient]:
    async with httpx2.AsyncClient(trust_env=False) as client:
        yield client


@pytest.fixture
async def queue(tmp_path: Path) -> AsyncIterator[LocalQueue]:
    async with local_queue(tmp_path / "tasks.db", NOWHERE) as running:
        yield running


@pytest.fixture
def table(tmp_path: Path) -> Iterator[TaskTable]:
    with ThreadPoolExecutor(1) as executor:
        table = TaskTable(tmp_path / "tasks.db", executor=executor)
        yield table
        table.close()


async def waiting(table: TaskTable) -> list[str]:
    return [task.message.name for task in await table.waiting(Target.RUNNER, limit=9)]


async def test_a_queue_that_is_away_is_unavailable_and_took_nothing(queue: LocalQueue) -> None:
    await queue.stop()

    with pytest.raises(Unavailable):
        await queue.client.enqueue(TASK)


async def test_a_caller_who_may_not_enqueue_is_rejected(queue: LocalQueue) -> None:
    with pytest.raises(TaskRejected):
        await queue.caller("somebody").enqueue(TASK)


@pytest.mark.parametrize("answer", ["silence", "hang up", "HTTP/1.1 500 Oh\r\nContent-Length: 0\r\n\r\n"])
async def test_a_queue_that_was_asked_and_did_not_say_is_ambiguous(http: httpx2.AsyncClient, answer: str) -> None:
    end = asyncio.Event()

    async def listen(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        if answer == "silence":
            await end.wait()
        elif answer != "hang up":
            writer.write(answer.encode())
            await writer.drain()
        writer.close()
        await writer.wait_closed()

    server = await asyncio.start_server(listen, "127.0.0.1", 0)
    async with server:
        url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
        tasks = LocalTasks(client_of(http, url), within=timedelta(seconds=0.2))
        with pytest.raises(Ambiguous):
            await tasks.enqueue(TASK)
        end.set()


async def test_the_name_of_a_done_task_is_free_again_after_an_hour(table: TaskTable) -> None:
    await table.add(MESSAGE, now=NOON)
    await table.finish("t", now=NOON)

    await table.add(MESSAGE, now=NOON + timedelta(minutes=59))
    assert await waiting(table) == []
    await table.add(MESSAGE, now=NOON + timedelta(minutes=60))
    assert await waiting(table) == ["t"]


async def test_tasks_wait_in_the_order_in_which_they_are_due(table: TaskTable) -> None:
    for name, seconds in (("c", 3), ("a", -5), ("b", 2), ("a2", 0)):
        message = MESSAGE.model_copy(update={"name": name, "not_before": NOON + timedelta(seconds=seconds)})
        await table.add(message, now=NOON)
    await table.postpone("a", due=NOON + timedelta(seconds=2.5))

    assert await waiting(table) == ["a2", "b", "a", "c"]
    assert [task.attempts for task in await table.waiting(Target.RUNNER, limit=9)] == [0, 0, 1, 0]
    assert await table.waiting(Target.COORDINATOR, limit=9) == []


def test_waits_double_from_half_a_second_to_half_a_minute() -> None:
    waits = [Backoff().after(attempts).total_seconds() for attempts in (1, 2, 3, 6, 7, 8, 1000)]

    assert waits == [0.5, 1, 2, 16, 30, 30, 30]
