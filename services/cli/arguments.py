"""Arguments that several verbs take, and what they are checked against before anything is sent."""

import re
from collections.abc import Generator
from contextlib import contextmanager
from typing import Annotated

import typer
from pydantic import ValidationError

from services.cli.exits import Usage
from services.kernel.ids import DELIVERY_ID, RUN_ID, SLUG

RunArgument = Annotated[str, typer.Argument(metavar="RUN", help="A run: run_ and 22 letters and digits.")]
SlugArgument = Annotated[str | None, typer.Argument(metavar="[SLUG]", help="The project; else --project.")]
Limit = Annotated[int, typer.Option(min=1, max=10_000, metavar="N", help="How many at most.")]
Yes = Annotated[bool, typer.Option("--yes", help="Do not ask.")]
Key = Annotated[
    str | None,
    typer.Option("--idempotency-key", metavar="KEY", help="Names the request: asked again, it starts nothing new."),
]


def slug(text: str) -> str:
    """Raises:
    Usage: no project can have this slug.
    """
    return _matching(SLUG, text, expected="a project's slug (a-z, 0-9 and -, at most 63)")


def run_id(text: str) -> str:
    """Raises:
    Usage: no run can have this id.
    """
    return _matching(RUN_ID, text, expected="a run's id (run_ and 22 letters and digits)")


def delivery_id(text: str) -> str:
    """Raises:
    Usage: no delivery can have this id.
    """
    return _matching(DELIVERY_ID, text, expected="a delivery's id (dlv_ and 22 letters and digits)")


def idempotency_key(text: str) -> str:
    """Raises:
    Usage: it cannot be a key; the message does not repeat it.
    """
    if re.fullmatch(r"[\x21-\x7e]{1,255}", text) is None:
        raise Usage("expected a key of at most 255 printable ASCII characters without spaces")
    return text


@contextmanager
def checked() -> Generator[None]:
    """Build a request in this block.

    Raises:
        Usage: a value does not fit its field.
    """
    try:
        yield
    except ValidationError as error:
        first = error.errors()[0]
        field = str(first["loc"][0]) if first["loc"] else "request"
        option = "".join(f"-{letter.lower()}" if letter.isupper() else letter for letter in field).replace("_", "-")
        raise Usage(f"--{option}: {first['msg']}, not {first['input']!r}") from error


def given(**values: object) -> dict[str, object]:
    """What was given; a field that is left out of a request is not the same as one that is null."""
    return {name: value for name, value in values.items() if value is not None}


def _matching(pattern: str, text: str, *, expected: str) -> str:
    if re.fullmatch(pattern, text) is None:
        raise Usage(f"expected {expected}, not {text!r}")
    return text
