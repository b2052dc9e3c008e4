"""A secret that was replaced, switched off or deleted fails from the answer on, whatever is on its way."""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

import pytest

from tests.e2e.stack.workplace import Workplace

pytestmark = pytest.mark.anyio

SENDERS = 4
SHA = "1" * 40


@dataclass(slots=True)
class Stream:
    """Deliveries signed with one secret, sent all the time; `began` and `status` of each, by the loop's clock."""

    workplace: Workplace
    secret: str
    seen: list[tuple[float, int]] = field(default_factory=list[tuple[float, int]])

    async def send(self) -> int:
        began = asyncio.get_running_loop().time()
        # To a branch that is not built, so that no run is made.
        response = await self.workplace.deliver(self.workplace.push(SHA, branch="other"), secret=self.secret)
        self.seen.append((began, response.status_code))
        return response.status_code

    async def keep_sending(self) -> None:
        while await self.send() != 401:
            pass

    def accepted_after(self, moment: float) -> list[int]:
        return [status for began, status in self.seen if began > moment and status < 300]


@asynccontextmanager
async def under_load(workplace: Workplace) -> AsyncGenerator[Stream]:
    stream = Stream(workplace, workplace.secret)
    async with asyncio.TaskGroup() as senders:
        for _ in range(SENDERS):
            senders.create_task(stream.keep_sending())
        yield stream


async def answered(change: Callable[[], Awaitable[object]]) -> float:
    """Make a change; when it was answered, by the loop's clock."""
    await change()
    return asyncio.get_running_loop().time()


async def rotate(workplace: Workplace) -> None:
    workplace.secret = await workplace.api.rotate_secret(workplace.project)


async def disable(workplace: Workplace) -> None:
    await workplace.api.put_webhook(workplace.project, enabled=False)


async def delete(workplace: Workplace) -> None:
    await workplace.api.delete_webhook(workplace.project)


@pytest.mark.parametrize("change", [rotate, disable, delete])
async def test_no_delivery_begun_after_the_answer_is_let_in_by_the_old_secret(
    workplace: Workplace, change: Callable[[Workplace], Awaitable[None]]
) -> None:
    async with under_load(workplace) as stream:
        assert {await stream.send() for _ in range(20)} == {200}
        done = await answered(lambda: change(workplace))
        assert await stream.send() == 401
    assert stream.accepted_after(done) == []


async def test_a_rotated_secret_works_at_once(workplace: Workplace) -> None:
    await rotate(workplace)
    assert await Stream(workplace, workplace.secret).send() == 200


async def test_a_webhook_enabled_again_takes_its_old_secret(workplace: Workplace) -> None:
    await disable(workplace)
    assert await Stream(workplace, workplace.secret).send() == 401
    await workplace.api.put_webhook(workplace.project, enabled=True)
    assert await Stream(workplace, workplace.secret).send() == 200


async def test_a_webhook_created_again_takes_its_new_secret_only(workplace: Workplace) -> None:
    old = workplace.secret
    await delete(workplace)
    new = await workplace.api.webhook_secret(workplace.project)
    assert await Stream(workplace, old).send() == 401
    assert await Stream(workplace, new).send() == 200
