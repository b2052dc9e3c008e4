"""From bytes to text with lines of bounded length. Pure.

Invalid UTF-8 becomes U+FFFD; a character cut in two by a block is put together again. Nothing else is changed.
"""

import codecs

from services.runner.logs.limits import MARK


class Lines:
    """Decodes one stream. A line of more than `longest` bytes is cut, and says by how much."""

    def __init__(self, longest: int) -> None:
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._room = longest - MARK
        self._length = 0
        """Bytes of the line so far, also the cut ones."""

    def feed(self, block: bytes) -> str:
        """The text that is certain by now."""
        return self._bounded(self._decoder.decode(block))

    def end_line(self) -> str:
        """What is missing for the stream to stand at the beginning of a line."""
        rest = self._bounded(self._decoder.decode(b"", final=True))
        return rest + (self._end() if self._length else "")

    def _bounded(self, text: str) -> str:
        if self._length + len(text.encode()) <= self._room:
            _, newline, last = text.rpartition("\n")
            self._length = len(last.encode()) + (0 if newline else self._length)
            return text
        *ended, last = text.split("\n")
        return "".join([*(self._part(line) + self._end() for line in ended), self._part(last)])

    def _part(self, text: str) -> str:
        raw = text.encode()
        left = max(self._room - self._length, 0)
        self._length += len(raw)
        return text if len(raw) <= left else raw[:left].decode(errors="ignore")

    def _end(self) -> str:
        cut = self._length - self._room
        self._length = 0
        return f" … {cut} more bytes in this line\n" if cut > 0 else "\n"
