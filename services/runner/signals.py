"""The signal that asks this process to end.

Left to itself the server waits for the request in flight until it is killed: our part has to begin first.
"""

import asyncio
import signal
from collections.abc import Callable, Generator
from contextlib import contextmanager
from types import FrameType


@contextmanager
def on_termination(action: Callable[[], None]) -> Generator[None]:
    """Call `action` in the event loop on SIGTERM, and then whatever handled it before. Main thread only."""
    loop = asyncio.get_running_loop()
    before = signal.getsignal(signal.SIGTERM)

    def handle(number: int, frame: FrameType | None) -> None:
        loop.call_soon_threadsafe(action)
        if callable(before):
            before(number, frame)

    signal.signal(signal.SIGTERM, handle)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)
