"""What holds when every service has two instances on one Firestore, and everything comes at once."""

import asyncio
import shlex
from collections.abc import Awaitable, Callable, Sequence
from itertools import cycle
from pathlib import Path

import httpx2
import pytest

from services.kernel.runs import Status
from services.kernel.wire.deliveries import HookAnswer
from services.local.cloud.stack import CloudStack
from services.local.story.push import Push
from tests.e2e.several.old_secret import SHA, Stream, kinds, under_load
from tests.e2e.several.runners import hand_over
from tests.e2e.stack.workplace import Workplace

pytestmark = pytest.mark.anyio

Doors = tuple[Workplace, ...]

COPIES = 200
DELIVERIES = 60
CAP = 20


async def to_any(doors: Sequence[Workplace], pushes: Sequence[Push]) -> list[httpx2.Response]:
    """All at once, each to the next ingress, again as long as there was no time for an answer."""
    pairs = zip(cycle(doors), pushes, strict=False)
    return await asyncio.gather(*(door.answered(push) for door, push in pairs))


def on_the_record(record: Path, then: str = ":") -> str:
    """A test that writes down when it begins and ends."""
    file = shlex.quote(str(record))
    return f'echo "begin $ANVIL_RUN_ID" >> {file}\n{then}\necho "end $ANVIL_RUN_ID" >> {file}'


async def test_two_hundred_copies_of_one_delivery_at_both_ingresses_are_one_run(
    doors: Doors, workplace: Workplace, tmp_path: Path
) -> None:
    push = workplace.push(workplace.commit(on_the_record(tmp_path / "record")))
    responses = await to_any(doors, [push] * COPIES)

    assert {response.status_code for response in responses} <= {200, 202}
    runs = {HookAnswer.model_validate_json(response.content).run_id for response in responses}
    assert [run.run_id for run in await workplace.api.runs(workplace.project)] == list(runs)
    (run,) = runs
    assert run is not None
    assert (await workplace.finished(run)).run.status is Status.PASSED
    assert (tmp_path / "record").read_text().splitlines() == [f"begin {run}", f"end {run}"]


@pytest.mark.parametrize("left", [4, pytest.param(CAP, marks=pytest.mark.soak)])
async def test_of_sixty_pushes_at_both_ingresses_twenty_wait_and_forty_are_told_to_come_again(
    doors: Doors, workplace: Workplace, tmp_path: Path, left: int
) -> None:
    sha = workplace.commit(on_the_record(tmp_path / "record", workplace.waits_at_the_gate))
    first = await workplace.run_of(workplace.push(sha))
    await workplace.running(first)
    responses = await to_any(doors, [workplace.push(sha) for _ in range(DELIVERIES)])

    accepted = [HookAnswer.model_validate_json(each.content).run_id for each in responses if each.is_success]
    refused = [each for each in responses if not each.is_success]
    assert (len(accepted), len(refused)) == (CAP, DELIVERIES - CAP)
    assert {(each.status_code, each.headers["Retry-After"], each.json()["code"]) for each in refused} == {
        (503, "60", "project_queue_full")
    }
    waiting = [entry.run_id for entry in (await workplace.api.queue(workplace.project)).queued]
    assert sorted(waiting) == sorted(run for run in accepted if run is not None)

    for run in waiting[left:]:
        await workplace.api.cancel(run)
    workplace.gate.touch()
    in_order = [first, *waiting[:left]]
    for run in in_order:
        await workplace.finished(run)
    # One is over before the next begins, whichever runner had it: no two of them overlap.
    expected = [line for run in in_order for line in (f"begin {run}", f"end {run}")]
    assert (tmp_path / "record").read_text().splitlines() == expected


@pytest.mark.inv("Q13")
async def test_a_run_that_both_runners_are_told_of_again_and_again_begins_once(
    running: CloudStack, workplace: Workplace, tmp_path: Path
) -> None:
    sha = workplace.commit(on_the_record(tmp_path / "record"))
    verdicts: list[str] = []

    async def keep_telling(runner: int, run: str, http: httpx2.AsyncClient) -> None:
        while not (await workplace.api.run(run)).run.status.terminal:
            answer = await hand_over(running, http, runner=runner, run=run)
            verdicts.append(answer.json()["verdict"] if answer.is_success else answer.json()["code"])

    async with httpx2.AsyncClient(timeout=30, trust_env=False) as http:
        for _ in range(5):
            run = await workplace.run_of(workplace.push(sha))
            await asyncio.gather(*(keep_telling(runner, run, http) for runner in (0, 1, 0, 1)))
            assert (await workplace.finished(run)).run.status is Status.PASSED

    begun = [line for line in (tmp_path / "record").read_text().splitlines() if line.startswith("begin")]
    assert len(begun) == len(set(begun)) == 5
    assert set(verdicts) <= {"execute", "run_active", "already_terminal", "busy"}


async def rotate(workplace: Workplace) -> str | None:
    return await workplace.api.rotate_secret(workplace.project)


async def disable(workplace: Workplace) -> str | None:
    await workplace.api.put_webhook(workplace.project, enabled=False)
    return None


async def delete(workplace: Workplace) -> str | None:
    await workplace.api.delete_webhook(workplace.project)
    return None


async def delete_and_create(workplace: Workplace) -> str | None:
    await workplace.api.delete_webhook(workplace.project)
    return await workplace.api.webhook_secret(workplace.project)


@pytest.mark.parametrize("change", [rotate, disable, delete, delete_and_create])
async def test_from_the_answer_on_no_ingress_takes_the_old_secret_and_every_one_takes_the_new(
    doors: Doors, workplace: Workplace, change: Callable[[Workplace], Awaitable[str | None]]
) -> None:
    nexts = await kinds(workplace)
    async with under_load(doors, nexts, secret=workplace.secret) as streams:
        assert {await stream.send() for stream in 3 * streams} == {200}
        new = await change(workplace)
        done = asyncio.get_running_loop().time()
        if new is not None:
            fresh = [Stream(door=door, secret=new, next=lambda: workplace.push(SHA, branch="other")) for door in doors]
            assert set(await asyncio.gather(*(stream.send() for stream in 5 * fresh))) == {200}
    assert [stream.accepted_after(done) for stream in streams] == [[]] * len(streams)
    assert sum(len(stream.seen) for stream in streams) > 4 * len(streams)
