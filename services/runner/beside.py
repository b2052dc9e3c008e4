"""Work that goes on beside other work, and ends with it."""

import asyncio
from collections.abc import AsyncGenerator, Coroutine
from contextlib import asynccontextmanager

from services.kernel.log import get_logger

log = get_logger(__name__)


@asynccontextmanager
async def beside(work: Coroutine[None, None, None]) -> AsyncGenerator[None]:
    """Run `work` while the block runs. It answers for its own errors; one that escapes it is a bug, and is logged."""
    task = asyncio.create_task(work)
    try:
        yield
    finally:
        task.cancel()
        (result,) = await asyncio.gather(task, return_exceptions=True)
        if isinstance(result, Exception):
            log.error("work beside a run broke off", exc_info=result)
