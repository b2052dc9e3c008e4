"""A full queue: who is refused, who waits, who runs when."""

import asyncio
import shlex
from pathlib import Path

import pytest

from services.kernel.errors import QueueFull
from services.kernel.wire.deliveries import HookAnswer, Outcome
from services.local.story.push import Push
from tests.e2e.stack.workplace import Workplace

pytestmark = pytest.mark.anyio

DELIVERIES = 60
CAP = 20


def on_the_record(workplace: Workplace, record: Path) -> str:
    """A test that writes down when it begins and ends, and waits at the gate between."""
    file = shlex.quote(str(record))
    return f'echo "begin $ANVIL_RUN_ID" >> {file}\n{workplace.waits_at_the_gate}\necho "end $ANVIL_RUN_ID" >> {file}'


async def one_running_and_sixty_more(workplace: Workplace, record: Path) -> tuple[str, dict[str, str], list[Push]]:
    """The run at the gate, the waiting runs by delivery, and the deliveries that were refused."""
    sha = workplace.commit(on_the_record(workplace, record))
    first = await workplace.run_of(workplace.push(sha))
    await workplace.running(first)
    pushes = [workplace.push(sha) for _ in range(DELIVERIES)]
    responses = await asyncio.gather(*(workplace.answered(push) for push in pushes))
    accepted: dict[str, str] = {}
    refused: list[Push] = []
    for push, response in zip(pushes, responses, strict=True):
        if response.is_success:
            accepted[push.delivery_id] = HookAnswer.model_validate_json(response.content).run_id or ""
        else:
            assert (response.status_code, response.headers["Retry-After"]) == (503, "60")
            assert response.json()["code"] == "project_queue_full"
            refused.append(push)
    return first, accepted, refused


@pytest.mark.soak
async def test_of_sixty_pushes_at_once_twenty_wait_and_run_in_order_one_at_a_time(
    workplace: Workplace, tmp_path: Path
) -> None:
    record = tmp_path / "record"
    first, accepted, refused = await one_running_and_sixty_more(workplace, record)
    assert (len(accepted), len(refused)) == (CAP, DELIVERIES - CAP)

    queue = await workplace.api.queue(workplace.project)
    waiting = [entry.run_id for entry in queue.queued]
    assert sorted(waiting) == sorted(accepted.values())
    positions = [(await workplace.api.run(run)).run.position for run in waiting]
    known = [position for position in positions if position is not None]
    assert len(set(known)) == CAP
    assert known == sorted(known)

    with pytest.raises(QueueFull):
        await workplace.api.start_run(workplace.project)

    full = await workplace.api.deliveries(workplace.project, outcome=Outcome.QUEUE_FULL)
    assert {row.delivery_id for row in full} == {push.delivery_id for push in refused}
    assert {row.run_id for row in full} == {None}

    workplace.gate.touch()
    for run in (first, *waiting):
        await workplace.finished(run)
    in_order = [first, *waiting]
    # One is over before the next begins: no two of them overlap.
    assert record.read_text().splitlines() == [line for run in in_order for line in (f"begin {run}", f"end {run}")]


async def test_a_refused_delivery_sent_again_is_accepted_once_a_place_is_free_under_the_same_row(
    workplace: Workplace, tmp_path: Path
) -> None:
    first, accepted, refused = await one_running_and_sixty_more(workplace, tmp_path / "record")
    again = refused[0]
    row = next(row for row in await workplace.api.deliveries(workplace.project) if row.delivery_id == again.delivery_id)

    still_full = await workplace.deliver(again)
    assert (still_full.status_code, still_full.headers["Retry-After"]) == (503, "60")

    await workplace.api.cancel(next(iter(accepted.values())))
    run = await workplace.run_of(again)
    replayed = HookAnswer.model_validate_json((await workplace.deliver(again)).content)
    assert (replayed.duplicate, replayed.run_id) == (True, run)
    rows = [
        found for found in await workplace.api.deliveries(workplace.project) if found.delivery_id == again.delivery_id
    ]
    assert [(found.id, found.outcome, found.run_id) for found in rows] == [(row.id, Outcome.ACCEPTED, run)]

    for waiting in (run, *accepted.values(), first):
        await workplace.api.cancel(waiting)
    await workplace.finished(first)
