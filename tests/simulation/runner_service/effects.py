"""What commands really did: one line for each thing, in a file to which lines are only added."""

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from pydantic import TypeAdapter


class Did(StrEnum):
    BEGAN = "began"
    WORKED = "worked"
    LEFT_BEHIND_WORKED = "left behind, worked"
    ENDED = "ended"


@dataclass(frozen=True, slots=True, kw_only=True)
class Effect:
    """`commit` is what was checked out where the command ran, `at` seconds of the clock, `code` that of an end."""

    run: str
    step: str
    did: Did
    commit: str
    at: float
    code: int = 0


_STORED = TypeAdapter(Effect)


@dataclass(frozen=True, slots=True)
class Effects:
    path: Path

    def add(self, effect: Effect) -> None:
        with self.path.open("a") as file:
            file.write(_STORED.dump_json(effect).decode() + "\n")

    def of(self, run: str) -> list[Effect]:
        return [effect for effect in self if effect.run == run]

    def __iter__(self) -> Iterator[Effect]:
        if self.path.exists():
            for line in self.path.read_text().splitlines():
                yield _STORED.validate_json(line)
