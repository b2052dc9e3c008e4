"""Git hosts and people who go on asking until they are answered; when they asked, and what they were told."""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from functools import partial
from random import Random
from typing import TypeVar

import httpx2

from services.kernel.errors import Transient
from services.kernel.wire.deliveries import HookAnswer
from services.local.story.api import Api
from services.local.story.push import Push
from tests.e2e.kills.site import Site
from tests.e2e.kills.victim import Busy

Answer = TypeVar("Answer")

AGAIN_SECONDS = 0.2
SPREAD_SECONDS = 1.0
"""The pushes and people of a wave come within this time."""

SECOND_WAVE = 3
"""Every third one comes with the second wave."""

CANCEL_SECONDS = 3.0
"""A run is cancelled within this time of its acknowledgement."""


@dataclass(slots=True, kw_only=True, eq=False)
class Asked:
    """What asks for a run: a delivery, or a person who brings `name` as an idempotency key.

    When it first did and when it was first acknowledged, by the loop's clock; every run that anybody was told of.
    """

    name: str
    push: Push | None
    asked: float = 0
    acknowledged: float = 0
    runs: set[str | None] = field(default_factory=set[str | None])
    is_acknowledged: asyncio.Event = field(default_factory=asyncio.Event)

    def told(self, run: str | None) -> None:
        self.runs.add(run)
        if not self.is_acknowledged.is_set():
            self.acknowledged = asyncio.get_running_loop().time()
            self.is_acknowledged.set()


@dataclass(slots=True, kw_only=True)
class Load:
    """On some sites, through each ingress, in two waves; `wrong` is what nobody should be answered."""

    doors: Sequence[Api]
    random: Random
    busy: Busy
    asked: dict[Site, list[Asked]] = field(default_factory=dict[Site, list[Asked]])
    canceled: set[str] = field(default_factory=set[str])
    wrong: list[str] = field(default_factory=list[str])
    second_wave: asyncio.Event = field(default_factory=asyncio.Event)

    def runs(self) -> set[str]:
        """Those that were acknowledged by now."""
        return {run for asked in self.asked.values() for each in asked for run in each.runs if run is not None}

    async def on(self, site: Site, *, twice: int, by_hand: int) -> None:
        """Deliver its pushes, `twice` of them through both ingresses at once; start runs by hand; cancel one."""
        pushes = [Asked(name=push.delivery_id, push=push) for push in site.pushes]
        people = [Asked(name=f"{site.project}-by-hand-{number}", push=None) for number in range(by_hand)]
        self.asked[site] = [*pushes, *people]
        twice_sent = self.random.sample(pushes, twice)
        async with asyncio.TaskGroup() as coming:
            for number, each in enumerate(self.asked[site], start=1):
                copies, after = 1 + (each in twice_sent), self.random.uniform(0, SPREAD_SECONDS)
                wave = self.second_wave if number % SECOND_WAVE == 0 else None
                coming.create_task(self._ask(site, each, wave=wave, after=after, copies=copies, door=self._any_door()))
            coming.create_task(self._cancel(self.random.choice(pushes), after=self.random.uniform(0, CANCEL_SECONDS)))

    async def _ask(
        self, site: Site, asked: Asked, *, wave: asyncio.Event | None, after: float, copies: int, door: int
    ) -> None:
        if wave is not None:
            await wave.wait()
        await asyncio.sleep(after)
        asked.asked = asyncio.get_running_loop().time()

        async def ask(api: Api) -> str | None:
            if asked.push is None:
                return await api.start_run(site.project, key=asked.name)
            return await self._deliver(site, asked.push, api)

        async def insist(door: int) -> None:
            asked.told(await self._insist(ask, door=door))

        async with asyncio.TaskGroup() as senders:
            for copy in range(copies):
                senders.create_task(insist(door + copy))

    async def _deliver(self, site: Site, push: Push, api: Api) -> str | None:
        response = await api.deliver(site.project, push, secret=site.secret)
        if response.status_code == 503:
            raise Transient
        if not response.is_success:
            self.wrong.append(f"{push.delivery_id} was answered {response.status_code}: {response.text}")
            return None
        return HookAnswer.model_validate_json(response.content).run_id

    async def _cancel(self, asked: Asked, *, after: float) -> None:
        await asked.is_acknowledged.wait()
        await asyncio.sleep(after)
        for run in [run for run in asked.runs if run is not None]:
            self.canceled.add(run)
            await self._insist(partial(Api.cancel, run=run), door=self._any_door())

    def _any_door(self) -> int:
        return self.random.randrange(len(self.doors))

    async def _insist(self, ask: Callable[[Api], Awaitable[Answer]], *, door: int) -> Answer:
        """Ask at one ingress and then at the other, until one of them has an answer."""
        while True:
            try:
                async with self._waiting(at=door % len(self.doors)) as api:
                    return await ask(api)
            except (httpx2.TransportError, Transient):
                door += 1
                await asyncio.sleep(AGAIN_SECONDS)

    @asynccontextmanager
    async def _waiting(self, *, at: int) -> AsyncGenerator[Api]:
        self.busy.at_ingress[at + 1] += 1
        try:
            yield self.doors[at]
        finally:
            self.busy.at_ingress[at + 1] -= 1
