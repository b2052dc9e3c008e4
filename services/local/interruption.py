"""SIGINT and SIGTERM end what runs in an orderly way."""

import asyncio
import signal
from collections.abc import Coroutine
from typing import TypeVar

Result = TypeVar("Result")


class Interrupted(Exception):
    """A signal asked for the end; everything that was started is stopped."""


def run(main: Coroutine[object, object, Result]) -> Result:
    """Run to the end; a signal cancels it, so that its blocks are left in order. A second Ctrl-C leaves at once.

    Raises:
        Interrupted: by a signal.
    """
    try:
        return asyncio.run(_cancelled_by_sigterm(main))
    except (KeyboardInterrupt, asyncio.CancelledError) as error:
        raise Interrupted("interrupted") from error


async def _cancelled_by_sigterm(main: Coroutine[object, object, Result]) -> Result:
    # SIGINT does the same by itself: asyncio.run sees to that.
    running = asyncio.ensure_future(main)
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, running.cancel)
    return await running
