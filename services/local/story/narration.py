"""How the demo is told on a terminal."""

from dataclasses import dataclass
from enum import StrEnum

from rich.console import Console
from rich.text import Text


class Mark(StrEnum):
    SEEN = "✓"
    WRONG = "✗"
    SKIPPED = "–"


STYLES = {Mark.SEEN: "bold green", Mark.WRONG: "bold red", Mark.SKIPPED: "dim"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Tick:
    """A line of the list at the end: what should be seen, whether it was, and what was found."""

    mark: Mark
    title: str
    found: str


class Narrator:
    def __init__(self, console: Console) -> None:
        self._console = console

    def chapter(self, title: str) -> None:
        self._console.print()
        self._console.print(Text(f"▸ {title}", style="bold cyan"))

    def say(self, text: str) -> None:
        self._console.print(Text(f"  {text}"))

    def log(self, text: str) -> None:
        """A stretch of a run's log, as it comes."""
        for line in text.splitlines():
            self._console.print(Text(f"    │ {line}", style="dim"))

    def complain(self, text: str) -> None:
        self._console.print(Text(text, style="bold red"))

    def summary(self, ticks: list[Tick], *, seconds: float) -> None:
        self._console.print()
        for tick in ticks:
            line = Text.assemble((f"  {tick.mark} ", STYLES[tick.mark]), tick.title)
            self._console.print(line.append(f"  {tick.found}", style="dim") if tick.found else line)
        seen = sum(tick.mark is Mark.SEEN for tick in ticks)
        self._console.print(Text(f"\n  {seen} of {len(ticks)} as they should be, in {seconds:.0f} s", style="bold"))
