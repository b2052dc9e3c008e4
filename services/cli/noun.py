"""`anvil <noun> <verb>`: typer's groups and commands, each of which takes the global options as well.

A verb is a function whose first argument is the `Session` it calls the API through, or for a local verb the
`Invocation`; what follows becomes its own arguments and options, and its docstring the help.
"""

import inspect
from collections.abc import Awaitable, Callable, Iterable
from functools import partial
from typing import Concatenate, ParamSpec

import anyio
import typer
from typer.core import TyperCommand, TyperGroup

from services.cli.exits import Exit, Usage
from services.cli.options import EndpointUrl, FormatName, Given, NoColor, ProjectSlug, Quiet, Timeout
from services.cli.session import Session, connect
from services.cli.world import Invocation

P = ParamSpec("P")
Verb = Callable[Concatenate[Session, P], Awaitable[Exit | None]]
LocalVerb = Callable[Concatenate[Invocation, P], Exit | None]


class OneLineGroup(TyperGroup):
    """Says on one line which words it knows, where typer draws a box."""

    def get_command(self, ctx: object, cmd_name: str) -> TyperCommand | TyperGroup | None:
        match self.commands.get(cmd_name):
            case (TyperCommand() | TyperGroup()) as command:
                return command
            case _ if getattr(ctx, "resilient_parsing", False):  # The shell asks what could be completed.
                return None
            case _:
                raise Usage(f"{_prefix(self.name)}expected {_one_of(self.commands)}, not {cmd_name!r}")


class Noun:
    """A group of verbs; without a name it is the command itself."""

    def __init__(self, name: str | None, *, about: str) -> None:
        self.name = name
        self.typer = typer.Typer(
            name=name,
            help=about,
            cls=OneLineGroup,
            add_completion=False,
            pretty_exceptions_enable=False,
            rich_markup_mode=None,
        )
        self._words: list[str] = []
        self.typer.callback(invoke_without_command=True)(_with_options(self._begin, own=()))

    def verb(self, name: str) -> Callable[[Verb[P]], Verb[P]]:
        """Make the function below a verb that calls the API."""

        def register(function: Verb[P]) -> Verb[P]:
            self._register(name, function, run=partial(_run_online, function))
            return function

        return register

    def local_verb(self, name: str) -> Callable[[LocalVerb[P]], LocalVerb[P]]:
        """Make the function below a verb that does without the API."""

        def register(function: LocalVerb[P]) -> LocalVerb[P]:
            self._register(name, function, run=function)
            return function

        return register

    def add(self, noun: "Noun") -> None:
        self.typer.add_typer(noun.typer)
        self._words.append(noun.name or "")

    def _register(self, name: str, function: Callable[..., object], *, run: Callable[..., Exit | None]) -> None:
        own = tuple(inspect.signature(function, eval_str=True).parameters.values())[1:]
        command = _with_options(partial(_finish, run), own=own)
        self.typer.command(name, help=inspect.getdoc(function))(command)
        self._words.append(name)

    def _begin(self, context: typer.Context, given: Given) -> None:
        context.obj = _invocation(context).with_given(given)
        if context.invoked_subcommand is None:
            raise Usage(f"{_prefix(self.name)}expected {_one_of(self._words)}")


def _finish(run: Callable[..., Exit | None], context: typer.Context, given: Given, /, **own: object) -> None:
    raise typer.Exit(run(_invocation(context).with_given(given), **own) or Exit.OK)


def _run_online(function: Callable[..., Awaitable[Exit | None]], at: Invocation, /, **own: object) -> Exit | None:
    async def call() -> Exit | None:
        async with connect(at) as session:
            return await function(session, **own)

    return anyio.run(call)


def _invocation(context: typer.Context) -> Invocation:
    match context.obj:
        case Invocation() as invocation:
            return invocation
        case other:
            raise TypeError(f"the command was started with {other!r} in place of an invocation")


def _with_options(function: Callable[..., None], *, own: Iterable[inspect.Parameter]) -> Callable[..., None]:
    """`function(context, given, **own)` with the signature that typer reads: its own, then the global options."""

    def command(
        context: typer.Context,
        *,
        endpoint: EndpointUrl = None,
        project: ProjectSlug = None,
        written: FormatName = None,
        quiet: Quiet = False,
        no_color: NoColor = False,
        timeout: Timeout = None,
        **values: object,
    ) -> None:
        given = Given(
            endpoint=endpoint, project=project, format=written, quiet=quiet, no_color=no_color, timeout=timeout
        )
        function(context, given, **values)

    first, *options, _ = inspect.signature(command).parameters.values()
    keywords = [parameter.replace(kind=inspect.Parameter.KEYWORD_ONLY) for parameter in own]
    parameters = [first, *keywords, *options]
    command.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    command.__dict__["__signature__"] = inspect.Signature(parameters)
    return command


def _prefix(noun: str | None) -> str:
    return f"{noun}: " if noun else ""


def _one_of(words: Iterable[str]) -> str:
    return f"one of {', '.join(words)}"
