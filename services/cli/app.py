"""The command line: every noun in its place, and how what happens becomes an exit code."""

from collections.abc import Mapping, Sequence
from itertools import pairwise

import orjson
import typer

from services.cli import (
    about,
    auth,
    deliveries,
    doctor,
    ledger,
    operations,
    pipelines,
    projects,
    queue,
    runs,
    stack,
    webhooks,
)
from services.cli.exits import Exit, Usage, of_error
from services.cli.noun import Noun
from services.cli.options import Format, Given
from services.cli.output import Json
from services.cli.world import Invocation, World
from services.kernel import trace
from services.kernel.errors import AnvilError
from services.kernel.web.problems import problem

NOUNS = (projects, runs, queue, webhooks, deliveries, operations, ledger, pipelines, auth)


def run(arguments: Sequence[str], world: World) -> Exit:
    """Do what the arguments say. Whatever goes wrong is one line on stderr."""
    with trace.use(trace.continued({}, world.ids)):
        try:
            return _run(arguments, world)
        except AnvilError as error:
            out = world.output(Given(format=_format(arguments)))
            out.failure(error.detail, _document(error))
            if error.ledger_ref is not None:
                out.note(ledger.next_step(error.ledger_ref))
            return of_error(error)
        except KeyboardInterrupt:
            return Exit.INTERRUPTED


def _run(arguments: Sequence[str], world: World) -> Exit:
    if about.COMPLETE in world.environment:
        about.prepare_completion()
    command = typer.main.get_command(_root().typer)
    invocation = Invocation(world=world, given=Given())
    try:
        # Without its standalone mode typer returns the code of `typer.Exit`, and draws no boxes.
        return Exit(command.main(args=list(arguments), prog_name="anvil", standalone_mode=False, obj=invocation) or 0)
    except typer.TyperException as error:
        # The middle of it is how pydantic begins the messages of others.
        raise Usage(error.format_message().replace(": Value error, ", ": ")) from error


def _root() -> Noun:
    root = Noun(None, about="Runs what a repository asks for, one commit at a time.")
    stack.add_to(root)
    for module in NOUNS:
        root.add(module.noun)
    doctor.add_to(root)
    about.add_to(root)
    return root


def _document(error: AnvilError) -> Mapping[str, Json]:
    """The error as the API would tell it."""
    document: Mapping[str, Json] = orjson.loads(bytes(problem(error).body))
    return document


def _format(arguments: Sequence[str]) -> Format:
    """The format in which a failure is told, also when the rest of the line is not understood."""
    asked = Format.TABLE
    for argument, following in pairwise([*arguments, ""]):
        name, _, value = argument.partition("=")
        if name == "--format" and (value or following) in set(Format):
            asked = Format(value or following)
    return asked
