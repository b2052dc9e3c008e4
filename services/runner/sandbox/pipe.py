"""The one pipe into which all commands of a run write, so that their output stays in order."""

import asyncio
import os
from contextlib import suppress

from services.runner.sandbox.port import Output

_BLOCK = 32 * 1024
_CAPACITY = 64 * 1024
"""What a pipe of Linux holds by default (pipe(7)): all that can be left in it of a command that has ended."""


class OutputPipe:
    """Read whenever there is something, until it is closed. Created inside a running event loop."""

    def __init__(self, output: Output) -> None:
        self._output = output
        self._reading, self.writing = os.pipe()
        os.set_blocking(self._reading, False)
        asyncio.get_running_loop().add_reader(self._reading, self._read)

    def catch_up(self) -> None:
        """Pass on what an ended command has left in the pipe; what others go on writing comes later."""
        caught = 0
        while caught < _CAPACITY and (size := self._read()):
            caught += size

    def close(self) -> None:
        """Whoever still writes gets SIGPIPE."""
        asyncio.get_running_loop().remove_reader(self._reading)
        os.close(self._reading)
        os.close(self.writing)

    def _read(self) -> int:
        with suppress(BlockingIOError):
            block = os.read(self._reading, _BLOCK)
            self._output(block)
            return len(block)
        return 0
