"""One delivery, however often it comes, is one run."""

import asyncio

import pytest

from services.kernel.wire.deliveries import HookAnswer
from tests.e2e.stack.workplace import Workplace

pytestmark = pytest.mark.anyio

COPIES = 200


async def test_two_hundred_copies_of_one_delivery_at_once_make_one_run(workplace: Workplace) -> None:
    push = workplace.push(workplace.commit("echo once"))
    responses = await asyncio.gather(*(workplace.deliver(push) for _ in range(COPIES)))
    statuses = [response.status_code for response in responses]
    # Anything else must say that sending it again is safe.
    assert set(statuses) <= {200, 202, 503}
    assert statuses.count(202) <= 1
    answers = [HookAnswer.model_validate_json(each.content) for each in responses if each.is_success]
    runs = {answer.run_id for answer in answers}
    assert len(runs) == 1
    assert [run.run_id for run in await workplace.api.runs(workplace.project)] == list(runs)
    assert len(await workplace.api.deliveries(workplace.project)) == 1
    for run in runs:
        assert run is not None
        await workplace.finished(run)


async def test_the_same_delivery_id_in_another_project_is_another_delivery(
    workplace: Workplace, another: Workplace
) -> None:
    first = await workplace.run_of(workplace.push(workplace.commit("echo here"), delivery_id="the-same"))
    second = await another.run_of(another.push(another.commit("echo there"), delivery_id="the-same"))
    assert first != second
    await workplace.finished(first)
    await another.finished(second)
