"""What the command says: data on stdout, everything else on stderr.

For programs the data is `{data}` or, in its place, `{error}`: a problem as the API tells it (RFC 9457).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TextIO, TypeAlias

import orjson
import yaml
from rich.console import Console
from rich.table import Table
from rich.text import Text

from services.cli.options import Format
from services.cli.terminal import harmless, plain
from services.kernel.wire.model import Wire

Json: TypeAlias = "None | bool | int | float | str | Sequence[Json] | Mapping[str, Json]"
Data: TypeAlias = "Wire | Json"

_WIDE = 10_000
"""Columns of a table that no terminal shows: nothing in it is cut."""


@dataclass(frozen=True, slots=True)
class Record:
    """One thing, a line for each of its fields."""

    fields: Mapping[str, Json]


@dataclass(frozen=True, slots=True)
class Rows:
    """Things of one kind, a line for each; `columns` are fields of theirs."""

    items: Sequence[Mapping[str, Json]]
    columns: Sequence[str]


@dataclass(frozen=True, slots=True)
class Line:
    """One line that a script may take as it is."""

    text: str


Block: TypeAlias = Record | Rows | Line


def fields(message: Wire) -> dict[str, Json]:
    """A message as it is on the wire."""
    return message.model_dump(mode="json", by_alias=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class Output:
    stdout: TextIO
    stderr: TextIO
    format: Format
    quiet: bool
    no_color: bool

    def show(self, data: Data, *blocks: Block) -> None:
        """Write the data: for people the blocks, for programs the whole."""
        shown = fields(data) if isinstance(data, Wire) else data
        match self.format:
            case Format.TABLE:
                for block in blocks:
                    self._draw(block)
                # What is noted beside it comes after it, also where both go to one place.
                self.stdout.flush()
            case Format.JSON | Format.JSONL | Format.YAML:
                self._write(shown)

    def text(self, text: str) -> None:
        """Write a stretch of a log, at once: to stdout if that is what was asked for, else beside the data."""
        stream = self.stdout if self.format is Format.TABLE else self.stderr
        stream.write(harmless(text) if stream.isatty() else text)
        stream.flush()

    def note(self, text: str) -> None:
        """Tell a person what happens; not with --quiet."""
        if not self.quiet:
            print(plain(text), file=self.stderr, flush=True)

    def failure(self, message: str, problem: Mapping[str, Json]) -> None:
        """Say on one line why there is no data, and to programs in the data's place too."""
        print(plain(f"anvil: {message}"), file=self.stderr, flush=True)
        if self.format is not Format.TABLE:
            self._emit({"error": problem})

    def _write(self, data: Json) -> None:
        match data:
            case {"items": [*items]} if self.format is Format.JSONL:
                for item in items:
                    self._emit({"data": item})
            case _:
                self._emit({"data": data})

    def _emit(self, document: Mapping[str, Json]) -> None:
        match self.format:
            case Format.YAML:
                self.stdout.write(_yaml(document))
            case Format.JSONL:
                self.stdout.write(orjson.dumps(document).decode() + "\n")
            case Format.JSON | Format.TABLE:
                self.stdout.write(orjson.dumps(document, option=orjson.OPT_INDENT_2).decode() + "\n")
        self.stdout.flush()

    def _draw(self, block: Block) -> None:
        match block:
            case Line(text):
                self.stdout.write(f"{plain(text)}\n")
            case Record(fields):
                table = Table.grid(padding=(0, 2))
                for name, value in fields.items():
                    table.add_row(Text(_title(name), style="bold"), _cell(value))
                self._print(table)
            case Rows(items, columns):
                table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold")
                for column in columns:
                    table.add_column(_title(column).upper(), overflow="fold", no_wrap=not self.stdout.isatty())
                for item in items:
                    table.add_row(*(_cell(item.get(column)) for column in columns))
                self._print(table)

    def _print(self, table: Table) -> None:
        width = None if self.stdout.isatty() else _WIDE
        console = Console(file=self.stdout, no_color=self.no_color, highlight=False, width=width)
        with console.capture() as drawn:
            console.print(table)
        self.stdout.writelines(f"{line.rstrip()}\n" for line in drawn.get().splitlines())


def _yaml(document: Mapping[str, Json]) -> str:
    # Its stubs leave the type of an argument open.
    return yaml.safe_dump(document, sort_keys=False, allow_unicode=True)  # pyright: ignore[reportUnknownMemberType]


def _title(field: str) -> str:
    """`commitSha` as people write it: `commit sha`."""
    return "".join(f" {letter.lower()}" if letter.isupper() else letter for letter in field)


_STYLES = {"passed": "green", "accepted": "green", "failed": "red", "queue_full": "red", "running": "yellow"}


def _cell(value: Json) -> Text:
    match value:
        case None:
            return Text("-", style="dim")
        case bool():
            return Text("yes" if value else "no")
        case str():
            return Text(plain(value), style=_STYLES.get(value, ""))
        case _:
            return Text(plain(str(value)))
