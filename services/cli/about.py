"""`anvil version` and `anvil completion`."""

from enum import StrEnum
from importlib import metadata
from typing import Annotated

import typer
from typer.completion import completion_init, get_completion_script  # type: ignore[attr-defined]

from services.cli.noun import Noun
from services.cli.output import Line
from services.cli.world import Invocation


class Shell(StrEnum):
    BASH = "bash"
    ZSH = "zsh"
    FISH = "fish"


COMPLETE = "_ANVIL_COMPLETE"
"""The variable in which a shell asks what could stand at the cursor."""

ShellArgument = Annotated[Shell, typer.Argument(metavar="SHELL", help="bash, zsh or fish.")]


def add_to(root: Noun) -> None:
    root.local_verb("version")(version)
    root.local_verb("completion")(completion)


def installed_version() -> str:
    """This command's version; `unknown` if it runs from sources that were never installed."""
    try:
        return metadata.version("anvil")
    except metadata.PackageNotFoundError:
        return "unknown"


def prepare_completion() -> None:
    """Teach typer the shells; it does so itself only for commands that have `--install-completion`."""
    completion_init()


def version(at: Invocation) -> None:
    """The version of this command."""
    found = installed_version()
    at.out.show({"version": found}, Line(f"anvil {found}"))


def completion(at: Invocation, shell: ShellArgument) -> None:
    """A script that makes a shell complete this command: `eval "$(anvil completion bash)"`."""
    script = get_completion_script(prog_name="anvil", complete_var=COMPLETE, shell=shell.value)
    at.world.stdout.write(f"{script}\n")
