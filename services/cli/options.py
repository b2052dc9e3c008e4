"""The global options, which may stand before the noun, between noun and verb, or after the verb."""

import re
from dataclasses import dataclass
from datetime import timedelta
from enum import StrEnum
from typing import Annotated

import typer

from services.cli.exits import Usage


class Format(StrEnum):
    """How data is written: for people, or for programs as `{data}` or `{error}`."""

    TABLE = "table"
    JSON = "json"
    JSONL = "jsonl"
    YAML = "yaml"


EndpointUrl = Annotated[str | None, typer.Option(metavar="URL", help="Where Anvil is.")]
ProjectSlug = Annotated[str | None, typer.Option("--project", "-p", metavar="SLUG", help="The project it is about.")]
FormatName = Annotated[Format | None, typer.Option("--format", help="How data is written.")]
Quiet = Annotated[bool, typer.Option("--quiet", help="Nothing but data and errors.")]
NoColor = Annotated[bool, typer.Option("--no-color", help="No colors.")]
Timeout = Annotated[str | None, typer.Option(metavar="TIME", help="How long to wait at most: 30, 30s, 5m, 1h.")]


@dataclass(frozen=True, slots=True, kw_only=True)
class Given:
    """The global options as they were given at one place of the command line; None where they were not."""

    endpoint: str | None = None
    project: str | None = None
    format: Format | None = None
    quiet: bool = False
    no_color: bool = False
    timeout: str | None = None

    def __post_init__(self) -> None:
        """
        Raises:
            Usage: the time limit is not a time.
        """
        if self.timeout is not None:
            duration(self.timeout)

    def then(self, later: "Given") -> "Given":
        """Both together; what stands later on the line wins."""
        return Given(
            endpoint=self.endpoint if later.endpoint is None else later.endpoint,
            project=self.project if later.project is None else later.project,
            format=later.format or self.format,
            quiet=self.quiet or later.quiet,
            no_color=self.no_color or later.no_color,
            timeout=self.timeout if later.timeout is None else later.timeout,
        )

    @property
    def patience(self) -> timedelta | None:
        """The time limit, if one was given."""
        return None if self.timeout is None else duration(self.timeout)


_UNITS = {"": 1, "s": 1, "m": 60, "h": 3600}


def duration(text: str) -> timedelta:
    """`30`, `30s`, `5m` or `1h`; at least a second.

    Raises:
        Usage: it is not a time.
    """
    found = re.fullmatch(r"([1-9][0-9]{0,5})([smh]?)", text)
    if found is None:
        raise Usage(f"--timeout: expected a time such as 30s, 5m or 1h, not {text!r}")
    return timedelta(seconds=int(found[1]) * _UNITS[found[2]])
