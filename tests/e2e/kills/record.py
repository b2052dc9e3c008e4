"""What a project's commands really did, in the order in which they did it.

Pure but for the reading.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from tests.history.queue_order import Ran


@dataclass(frozen=True, slots=True, kw_only=True)
class Effect:
    """`what` is `begin`, `alive` or `end`; `mark` names the commit whose commands said so."""

    what: str
    run: str
    mark: str


def read(record: Path) -> Sequence[Effect]:
    """A last line without an end was being written by whoever was killed."""
    text = record.read_text() if record.exists() else ""
    return [_effect(line) for line in text.split("\n")[:-1]]


def _effect(line: str) -> Effect:
    what, run, mark = line.split(" ")
    return Effect(what=what, run=run, mark=mark)


def marks(effects: Sequence[Effect]) -> Mapping[str, set[str]]:
    """The commits that each run's commands were of."""
    found: dict[str, set[str]] = {}
    for effect in effects:
        found.setdefault(effect.run, set()).add(effect.mark)
    return found


def those(effects: Sequence[Effect], what: str) -> list[str]:
    """The runs that said so, as often as they did."""
    return [effect.run for effect in effects if effect.what == what]


def lives(project: str, effects: Sequence[Effect]) -> Iterator[Ran]:
    """Each time that a run's commands began, until the last line that they wrote. A moment is a place in the file."""
    spans: dict[str, list[tuple[int, int]]] = {}
    for place, effect in enumerate(effects):
        of_run = spans.setdefault(effect.run, [])
        began = place if effect.what == "begin" or not of_run else of_run.pop()[0]
        of_run.append((began, place + 1))
    for run, of_run in spans.items():
        yield from (Ran(project=project, run_id=run, began=began, ended=ended) for began, ended in of_run)
