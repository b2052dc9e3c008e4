"""The task queue's contract: at least once, by name, not before its time, until it is acknowledged."""

from datetime import datetime, timedelta
from itertools import pairwise

import pytest

from services.kernel.adapters.clock import SystemClock
from services.kernel.errors import TaskRejected
from services.kernel.ports import Target, Task, Value
from tests.contract.queues import Queue
from tests.contract.receiver import Receiver

pytestmark = pytest.mark.anyio

TRACE = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"


def task(
    name: str, *, target: Target = Target.RUNNER, not_before: datetime | None = None, trace: str | None = None
) -> Task:
    return Task(
        target=target, path=f"/tasks/{name}", body={"name": name}, name=name, not_before=not_before, trace=trace
    )


def in_a_moment(seconds: float) -> datetime:
    return SystemClock().now() + timedelta(seconds=seconds)


async def test_a_task_reaches_its_target_with_its_body_name_trace_and_token(queue: Queue, runner: Receiver) -> None:
    body: dict[str, Value] = {"runId": "run_1", "dispatch": 2, "deep": [{"é": None}]}
    await queue.client.enqueue(Task(target=Target.RUNNER, path="/tasks/execute", body=body, name="t-1", trace=TRACE))

    (arrival,) = await runner.arrived(1)
    assert (arrival.path, arrival.body) == ("/tasks/execute", body)
    headers = ("x-cloudtasks-taskname", "x-cloudtasks-taskretrycount", "traceparent", "authorization", "content-type")
    assert [arrival.headers[name] for name in headers] == [
        "t-1",
        "0",
        TRACE,
        "Bearer tasks-for-the-runner",
        "application/json",
    ]


async def test_each_task_goes_to_its_own_target_with_a_token_for_it(
    queue: Queue, runner: Receiver, coordinator: Receiver
) -> None:
    await queue.client.enqueue(task("a", target=Target.COORDINATOR))
    await queue.client.enqueue(task("b", target=Target.RUNNER))

    (first,), (second,) = await coordinator.arrived(1), await runner.arrived(1)
    assert (first.task, first.headers["authorization"]) == ("a", "Bearer tasks-for-the-coordinator")
    assert (second.task, second.headers["authorization"]) == ("b", "Bearer tasks-for-the-runner")
    assert "traceparent" not in first.headers


async def test_tasks_of_one_name_are_delivered_once_even_after_it_was_done(queue: Queue, runner: Receiver) -> None:
    await queue.client.enqueue(task("same"))
    await queue.client.enqueue(task("same"))
    await runner.arrived(1)
    await queue.client.enqueue(task("between"))
    await runner.arrived(2)
    await queue.client.enqueue(task("same"))
    await queue.client.enqueue(task("last"))

    arrivals = await runner.arrived(3)
    assert [arrival.task for arrival in arrivals] == ["same", "between", "last"]


async def test_a_task_does_not_come_before_its_time_and_does_not_hold_up_others(queue: Queue, runner: Receiver) -> None:
    later = in_a_moment(0.3)
    await queue.client.enqueue(task("later", not_before=later))
    await queue.client.enqueue(task("now"))

    arrivals = await runner.arrived(2)
    assert [arrival.task for arrival in arrivals] == ["now", "later"]
    assert SystemClock().now() >= later


async def test_an_earlier_task_wakes_a_queue_that_waits_for_a_later_one(queue: Queue, runner: Receiver) -> None:
    await queue.client.enqueue(task("tomorrow", not_before=in_a_moment(86_400)))
    await queue.client.enqueue(task("soon", not_before=in_a_moment(0.05)))

    assert [arrival.task for arrival in await runner.arrived(1)] == ["soon"]


async def test_a_task_comes_again_after_growing_waits_until_it_is_acknowledged(queue: Queue, runner: Receiver) -> None:
    runner.answers.extend([503, 404, 302, 500, 200])
    await queue.client.enqueue(task("stubborn"))
    arrivals = await runner.arrived(5)
    await queue.client.enqueue(task("last"))

    assert [arrival.headers["x-cloudtasks-taskretrycount"] for arrival in arrivals] == ["0", "1", "2", "3", "4"]
    waits = [(late.at - early.at).total_seconds() for early, late in pairwise(arrivals)]
    assert all(wait >= least for wait, least in zip(waits, [0.1, 0.2, 0.4, 0.4], strict=True)), waits
    assert (await runner.arrived(6))[-1].task == "last"


async def test_a_task_that_waits_for_its_next_attempt_does_not_hold_up_others(queue: Queue, runner: Receiver) -> None:
    runner.answers.extend([503, 503, 503])
    await queue.client.enqueue(task("stubborn"))
    await runner.arrived(3)
    await queue.client.enqueue(task("other"))

    assert [arrival.task for arrival in await runner.arrived(5)][3:] == ["other", "stubborn"]


async def test_one_runner_gets_one_task_at_a_time(queue: Queue, runner: Receiver) -> None:
    runner.open.clear()
    for name in ("a", "b", "c"):
        await queue.client.enqueue(task(name))
    await runner.arrived(1)
    runner.open.set()

    assert [arrival.task for arrival in await runner.arrived(3)] == ["a", "b", "c"]
    assert runner.most_at_once == 1


async def test_the_coordinator_gets_eight_tasks_at_a_time_whatever_the_runner_does(
    queue: Queue, runner: Receiver, coordinator: Receiver
) -> None:
    runner.open.clear()
    coordinator.open.clear()
    await queue.client.enqueue(task("run"))
    await runner.arrived(1)
    for number in range(12):
        await queue.client.enqueue(task(f"t{number}", target=Target.COORDINATOR))
    await coordinator.arrived(8)
    coordinator.open.set()

    await coordinator.arrived(12)
    assert coordinator.most_at_once == 8


async def test_a_task_that_waits_survives_a_restart(queue: Queue, runner: Receiver) -> None:
    later = in_a_moment(0.2)
    await queue.client.enqueue(task("patient", not_before=later))
    await queue.restart()

    assert [arrival.task for arrival in await runner.arrived(1)] == ["patient"]
    assert SystemClock().now() >= later


async def test_a_delivery_that_a_restart_interrupts_is_made_again(queue: Queue, runner: Receiver) -> None:
    runner.open.clear()
    await queue.client.enqueue(task("interrupted"))
    await runner.arrived(1)
    await queue.restart()
    runner.open.set()

    assert [arrival.task for arrival in await runner.arrived(2)] == ["interrupted", "interrupted"]


async def test_a_done_task_does_not_come_again_after_a_restart(queue: Queue, runner: Receiver) -> None:
    await queue.client.enqueue(task("done"))
    await queue.client.enqueue(task("after"))
    await runner.arrived(2)
    await queue.restart()
    await queue.client.enqueue(task("done"))
    await queue.client.enqueue(task("last"))

    assert (await runner.arrived(3))[-1].task == "last"


async def test_an_answer_that_does_not_come_in_time_is_no_acknowledgement(queue: Queue, runner: Receiver) -> None:
    await queue.restart(runner=timedelta(seconds=0.1))
    runner.open.clear()
    await queue.client.enqueue(task("slow"))

    arrivals = await runner.arrived(2)
    assert [arrival.headers["x-cloudtasks-taskretrycount"] for arrival in arrivals] == ["0", "1"]


@pytest.mark.parametrize(
    "impossible",
    [
        Task(target=Target.RUNNER, path="/tasks/x", body={}, name="a name"),
        Task(target=Target.RUNNER, path="/tasks/x", body={}, name=""),
        Task(target=Target.RUNNER, path="/tasks/x", body={}, name="x" * 501),
        Task(target=Target.RUNNER, path="tasks/x", body={}, name="a"),
        Task(target=Target.RUNNER, path="/tasks/\r\nx", body={}, name="a"),
        Task(target=Target.RUNNER, path="/tasks/x", body={"raw": b"\x00"}, name="a"),
        Task(target=Target.RUNNER, path="/tasks/x", body={"large": "x" * 1_048_576}, name="a"),
        Task(target=Target.RUNNER, path="/tasks/x", body={}, name="a", trace="a\nb"),
    ],
    ids=["space", "nameless", "long name", "relative", "newline", "bytes", "large", "trace"],
)
async def test_a_task_that_no_queue_would_take_is_rejected(queue: Queue, runner: Receiver, impossible: Task) -> None:
    with pytest.raises(TaskRejected):
        await queue.client.enqueue(impossible)
    await queue.client.enqueue(task("last"))

    assert [arrival.task for arrival in await runner.arrived(1)] == ["last"]


async def test_a_task_for_more_than_thirty_days_ahead_is_rejected(queue: Queue) -> None:
    with pytest.raises(TaskRejected):
        await queue.client.enqueue(task("far", not_before=in_a_moment(31 * 86_400)))
