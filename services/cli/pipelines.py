"""`anvil pipeline`."""

from pathlib import Path
from typing import Annotated

import typer

from services.cli.exits import Usage
from services.cli.noun import Noun
from services.cli.output import Record
from services.cli.world import Invocation
from services.kernel.errors import Permanent
from services.runner import pipeline

noun = Noun("pipeline", about="The file in a repository that says what to run.")

FileArgument = Annotated[Path, typer.Argument(metavar="[FILE]", help="A pipeline file.")]


class Refused(Permanent):
    """A runner would refuse this pipeline file."""

    code = "config_invalid"


@noun.local_verb("check")
def check(at: Invocation, file: FileArgument = Path(".anvil.yml")) -> None:
    """Say whether a runner would take a pipeline file; needs no Anvil to be there."""
    try:
        found = pipeline.parse(file.read_bytes())
    except OSError as error:
        raise Usage(f"expected a pipeline file: {file}: {error.strerror}") from error
    except pipeline.ConfigInvalid as error:
        raise Refused(f"{file}: {error.detail}") from error
    names = [step.name for step in found.steps]
    at.out.show({"file": str(file), "steps": names}, Record({"file": str(file), "steps": ", ".join(names) or "none"}))
