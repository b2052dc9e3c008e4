"""What only Cloud Tasks has: calls that fail in many ways, a form for tasks, and an issuer's token on each delivery."""

import asyncio
import re
import socket
import sys
from collections import Counter
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager
from datetime import timedelta
from pathlib import Path
from random import Random

import httpx2
import pytest
from grpc import StatusCode

from services.kernel.adapters.clock import SystemClock
from services.kernel.adapters.cloud_tasks import CloudTasks
from services.kernel.adapters.jwks import Jwks
from services.kernel.adapters.local_minter import create_key
from services.kernel.errors import Ambiguous, AnvilError, TaskRejected, Unavailable
from services.kernel.identity import Claims, Verifier
from services.kernel.ports import Target, Task
from services.local.doubles.dispatch import Disorder
from tests.contract.queues import QUEUES, CloudQueue, cloud_queue, lanes
from tests.contract.receiver import Receiver
from tests.contract.serving import served

pytestmark = [pytest.mark.anyio, pytest.mark.usefixtures("one_event_loop")]

TASK = Task(target=Target.RUNNER, path="/tasks/run", body={"run": "run_1"}, name="t")
NAME = "projects/p/locations/l/queues/runner/tasks/t"
NOWHERE = dict.fromkeys(Target, "http://127.0.0.1:9")
ISSUER = "https://issuer.test"


@pytest.fixture
async def queue() -> AsyncIterator[CloudQueue]:
    async with cloud_queue(NOWHERE) as running:
        yield running


def created(queue: CloudQueue) -> list[str]:
    return [task.name for task in queue.double.created]


async def test_a_task_for_the_runner_may_take_half_an_hour_and_one_for_the_coordinator_a_minute(
    queue: CloudQueue,
) -> None:
    await queue.client.enqueue(TASK)
    await queue.client.enqueue(Task(target=Target.COORDINATOR, path="/tasks/reconcile", body={}, name="t"))

    assert [(task.name, task.http_request.url, task.dispatch_deadline) for task in queue.double.created] == [
        (NAME, "http://127.0.0.1:9/tasks/run", timedelta(minutes=30)),
        (
            "projects/p/locations/l/queues/coordinator/tasks/t",
            "http://127.0.0.1:9/tasks/reconcile",
            timedelta(seconds=60),
        ),
    ]


async def test_a_create_whose_answer_was_lost_is_a_success_and_made_one_task(queue: CloudQueue) -> None:
    queue.double.faults.lost_answers = 1
    await queue.client.enqueue(TASK)

    assert created(queue) == [NAME]


@pytest.mark.parametrize("status", ["UNAVAILABLE", "DEADLINE_EXCEEDED", "INTERNAL", "UNKNOWN", "ABORTED", "CANCELLED"])
async def test_a_failure_that_tells_nothing_is_asked_about_again(queue: CloudQueue, status: str) -> None:
    queue.double.faults.refusals.extend([StatusCode[status]] * 2)
    await queue.client.enqueue(TASK)

    assert created(queue) == [NAME]


async def test_a_queue_that_is_slow_to_answer_is_ambiguous_in_time_and_has_one_task(queue: CloudQueue) -> None:
    queue.double.faults.delay = timedelta(seconds=5)
    started = SystemClock().elapsed()
    with pytest.raises(Ambiguous):
        await queue.client.enqueue(TASK)

    assert SystemClock().elapsed() - started < timedelta(seconds=2)
    assert created(queue) == [NAME]


async def test_a_queue_that_stays_away_is_ambiguous_and_found_again_when_it_is_back(queue: CloudQueue) -> None:
    await queue.client.enqueue(TASK)
    await queue.double.stop()
    with pytest.raises(Ambiguous):
        await queue.client.enqueue(Task(target=Target.RUNNER, path="/tasks/run", body={}, name="t2"))
    await queue.double.start()
    await queue.client.enqueue(Task(target=Target.RUNNER, path="/tasks/run", body={}, name="t3"))

    assert created(queue) == [NAME, f"{NAME}3"]


@pytest.mark.parametrize("status", ["INVALID_ARGUMENT", "PERMISSION_DENIED", "NOT_FOUND", "FAILED_PRECONDITION"])
async def test_what_will_not_change_by_asking_again_rejects_the_task(queue: CloudQueue, status: str) -> None:
    queue.double.faults.refusals.append(StatusCode[status])
    with pytest.raises(TaskRejected, match=re.escape(NAME)):
        await queue.client.enqueue(TASK)

    assert created(queue) == []


@pytest.mark.parametrize("status", ["RESOURCE_EXHAUSTED", "UNAUTHENTICATED"])
async def test_a_queue_that_takes_nothing_now_is_unavailable(queue: CloudQueue, status: str) -> None:
    queue.double.faults.refusals.append(StatusCode[status])
    with pytest.raises(Unavailable):
        await queue.client.enqueue(TASK)

    assert created(queue) == []


async def test_a_queue_that_takes_nothing_more_after_a_lost_answer_is_ambiguous(queue: CloudQueue) -> None:
    queue.double.faults.refusals.extend([StatusCode.UNKNOWN, StatusCode.RESOURCE_EXHAUSTED])
    with pytest.raises(Ambiguous):
        await queue.client.enqueue(TASK)


async def test_a_queue_that_does_not_exist_rejects_every_task(queue: CloudQueue) -> None:
    tasks = CloudTasks(
        {Target.RUNNER: lanes(NOWHERE)[Target.COORDINATOR]}, clock=SystemClock(), emulator=queue.double.address
    )
    del queue.double.queues["projects/p/locations/l/queues/coordinator"]
    with pytest.raises(TaskRejected):
        await tasks.enqueue(TASK)
    await tasks.close()


async def test_without_credentials_nothing_is_enqueued(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("GOOGLE_APPLICATION_CREDENTIALS", str(tmp_path / "none.json"))
    with pytest.raises(Unavailable):
        await CloudTasks(lanes(NOWHERE), clock=SystemClock()).enqueue(TASK)


def test_it_may_be_made_before_there_is_an_event_loop() -> None:
    tasks = CloudTasks(lanes(NOWHERE), clock=SystemClock(), emulator="127.0.0.1:9", within=timedelta(seconds=0.1))

    async def use() -> None:
        with pytest.raises(AnvilError):
            await tasks.enqueue(TASK)
        await tasks.close()

    asyncio.run(use())


async def test_in_disorder_tasks_overtake_each_other_and_each_may_come_twice() -> None:
    runner, names = Receiver(), [f"t{number}" for number in range(20)]
    async with served(runner) as (url,), cloud_queue({**NOWHERE, Target.RUNNER: url}) as queue:
        disorder = Disorder(random=Random(7), late=timedelta(seconds=0.2), twice=1)
        queue.double.queues[QUEUES[Target.RUNNER]].disorder = disorder
        for name in names:
            await queue.client.enqueue(Task(target=Target.RUNNER, path="/tasks/run", body={}, name=name))
        arrived = [arrival.task for arrival in await runner.arrived(2 * len(names))]

    assert Counter(arrived) == dict.fromkeys(names, 2)
    assert list(dict.fromkeys(arrived)) != names


# The double as a process of its own


@asynccontextmanager
async def process(key_file: Path) -> AsyncGenerator[tuple[str, str]]:
    """Its gRPC address and its HTTP URL."""
    port, http_port = _free_port(), _free_port()
    child = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "services.local.doubles.cloud", "--port", str(port), "--http-port", str(http_port)),
        *("--key-file", str(key_file), "--issuer", ISSUER, "--queue", "projects/p/locations/l/queues/runner=1"),
    )
    try:
        # Tried again until it serves.
        async with httpx2.AsyncClient(transport=httpx2.AsyncHTTPTransport(retries=8)) as http:
            (await http.get(f"http://127.0.0.1:{http_port}/jwks")).raise_for_status()
        yield f"127.0.0.1:{port}", f"http://127.0.0.1:{http_port}"
    finally:
        child.terminate()
        await child.wait()


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


async def test_a_delivery_brings_a_token_that_the_issuers_keys_verify_in_one_header_alone(tmp_path: Path) -> None:
    create_key(tmp_path / "issuer.pem")
    runner, clock = Receiver(), SystemClock()
    runner.answers.append(404)
    async with served(runner) as (url,), process(tmp_path / "issuer.pem") as (address, http_url):
        tasks = CloudTasks(lanes({Target.RUNNER: url}), clock=clock, emulator=address)
        async with httpx2.AsyncClient(trust_env=False) as http:
            await http.post(f"{http_url}/faults", json={"lostAnswers": 1})
        await tasks.enqueue(TASK)
        first, second = await runner.arrived(2)
        keys = Jwks(f"{http_url}/jwks", clock=clock)
        verifier = Verifier(keys, audiences=frozenset({"the-runner"}), issuers=frozenset({ISSUER}), clock=clock)
        claims = await verifier.verify(first.headers["authorization"].removeprefix("Bearer "))
        await tasks.close()

    assert claims == Claims(email="tasks", subject="tasks")
    assert "x-serverless-authorization" not in first.headers
    assert [
        second.headers[f"x-cloudtasks-{name}"]
        for name in ("queuename", "taskname", "taskretrycount", "taskexecutioncount", "taskpreviousresponse")
    ] == ["runner", "t", "1", "1", "404"]
    assert second.headers["user-agent"] == "Google-Cloud-Tasks"
