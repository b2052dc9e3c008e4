"""The beginning of what a program writes, and nothing of it lost to a full pipe."""

import asyncio
import os


class Capture:
    """Reads from its creation on, inside a running event loop. `writing` is the descriptor for the program."""

    def __init__(self, *, cap: int) -> None:
        self._cap = cap
        self._reading, self.writing = os.pipe()
        self._kept = asyncio.create_task(self._read())

    async def all(self) -> bytes:
        """What was written until nobody can write any more, cut at `cap` bytes; the rest is read and dropped."""
        self._close_writing()
        return await asyncio.shield(self._kept)

    def close(self) -> None:
        """Whoever still writes gets SIGPIPE."""
        self._close_writing()
        self._kept.cancel()

    async def _read(self) -> bytes:
        stream = asyncio.StreamReader()
        pipe = os.fdopen(self._reading, "rb", buffering=0)
        transport, _ = await asyncio.get_running_loop().connect_read_pipe(
            lambda: asyncio.StreamReaderProtocol(stream), pipe
        )
        kept = bytearray()
        try:
            while block := await stream.read(64 * 1024):
                kept += block[: self._cap - len(kept)]
        finally:
            transport.close()
        return bytes(kept)

    def _close_writing(self) -> None:
        if self.writing >= 0:
            os.close(self.writing)
            self.writing = -1
