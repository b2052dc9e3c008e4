"""What was really done, as a file that whoever does something adds a line to: the ground truth for "at most once".

A line is added by one write to a file that is open for appending, so processes, also ones that are killed, need not
know of each other. It is not synced: the machine outlives them.
"""

import os
import shlex
from collections import Counter
from collections.abc import Iterator, Set
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Effects:
    file: Path

    def happened(self, effect: str) -> None:
        """Say that it was done, before it is done: rather once too often than not at all."""
        line = _line(effect)
        descriptor = os.open(self.file, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)
        try:
            if os.write(descriptor, line) != len(line):
                raise OSError(f"{self.file} took a part of a line")
        finally:
            os.close(descriptor)

    def command(self, effect: str) -> str:
        """A line of shell that does the same, for a run to execute; `effect` is between double quotes there."""
        _line(effect)
        return f'printf "%s\\n" "{effect}" >> {shlex.quote(str(self.file))}'

    def read(self) -> Counter[str]:
        """How often each was done. A last line without an end was being written by whoever was killed."""
        written = self.file.read_bytes() if self.file.exists() else b""
        *whole, _torn = written.split(b"\n")
        return Counter(line.decode() for line in whole)


def violations(done: Counter[str], *, expected: Set[str]) -> Iterator[str]:
    """What was done more than once, and what nobody was to do; what was not done is no violation."""
    yield from (f"{effect} was done {times} times" for effect, times in sorted(done.items()) if times > 1)
    yield from (f"{effect} was done, and nobody asked" for effect in sorted(done.keys() - expected))


def _line(effect: str) -> bytes:
    if not effect or "\n" in effect:
        raise ValueError(f"{effect!r} is not one line")
    return effect.encode() + b"\n"
