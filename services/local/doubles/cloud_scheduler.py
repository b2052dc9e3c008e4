"""Cloud Scheduler's part: a POST every second, with a token in `Authorization` and nowhere else."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from datetime import timedelta

import httpx2

from services.kernel.ports import Clock
from services.local.doubles.dispatch import Sign

EVERY = timedelta(seconds=1)
ANSWER_WITHIN = timedelta(seconds=60)


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """What is posted to, as whom and for whom."""

    url: str
    audience: str
    email: str


@asynccontextmanager
async def ticking(job: Job, *, http: httpx2.AsyncClient, sign: Sign, clock: Clock) -> AsyncGenerator[None]:
    work = asyncio.create_task(_tick(job, http=http, sign=sign, clock=clock))
    try:
        yield
    finally:
        work.cancel()
        with suppress(asyncio.CancelledError):
            await work


async def _tick(job: Job, *, http: httpx2.AsyncClient, sign: Sign, clock: Clock) -> None:
    """For ever; an attempt that fails is made up for by the next."""
    while True:
        headers = {
            "Authorization": f"Bearer {await sign(job.email, job.audience)}",
            "User-Agent": "Google-Cloud-Scheduler",
        }
        with suppress(httpx2.HTTPError):
            await http.post(job.url, json={}, headers=headers, timeout=ANSWER_WITHIN.total_seconds())
        await clock.sleep(EVERY)
