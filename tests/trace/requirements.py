"""The requirements (R) and choices (C) as docs/requirements.md states them, and those that were proven before."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
STATED = ROOT / "docs" / "requirements.md"
PROVEN = Path(__file__).with_name("proven.txt")

_HEADING = re.compile(r"#{2,3} (.+)")
_LINE = re.compile(r"- \*\*([RC][0-9]+)\*\* (.+)")


@dataclass(frozen=True, slots=True, kw_only=True)
class Requirement:
    id: str
    section: str
    text: str


def parse(page: str) -> list[Requirement]:
    """The page's requirements in its order, each under the nearest heading above it."""
    found: list[Requirement] = []
    section = ""
    for line in page.splitlines():
        if heading := _HEADING.fullmatch(line):
            section = heading[1]
        elif stated := _LINE.fullmatch(line):
            found.append(Requirement(id=stated[1], section=section, text=stated[2]))
    return found


def parse_proven(text: str) -> frozenset[str]:
    return frozenset(line for line in text.split() if line)


def render_proven(ids: Iterable[str]) -> str:
    """One id a line, in the page's order, so that a change reads as a list of requirements."""
    return "".join(f"{id}\n" for id in sorted(ids, key=lambda id: (id[0] == "C", int(id[1:]))))
