"""One connection to Anvil for the length of a command."""

import signal
from collections.abc import AsyncGenerator, Generator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from datetime import timedelta

import httpx2

from services.cli import identity
from services.cli.api import Api
from services.cli.arguments import slug
from services.cli.exits import Stopped, Usage
from services.cli.output import Output
from services.cli.settings import Settings
from services.cli.world import Invocation, World


@dataclass(frozen=True, slots=True, kw_only=True)
class Session:
    """What a verb works with. `patience` is how long the user is ready to wait, if that was said."""

    world: World
    settings: Settings
    out: Output
    api: Api
    patience: timedelta | None

    def project(self, named: str | None = None) -> str:
        """The slug of the project that is meant: the one named, else the one of the settings.

        Raises:
            Usage: none was named anywhere, or none can have that slug.
        """
        if (meant := named or self.settings.project) is None:
            raise Usage("expected a project: --project, ANVIL_PROJECT, or `project` in ./.anvil.toml")
        return slug(meant)

    def confirm(self, question: str, *, yes: bool) -> None:
        """Go on only if a person agrees, or agreed beforehand with `--yes`.

        Raises:
            Usage: there is nobody to ask.
            Stopped: the person said no.
        """
        if yes:
            return
        if not self.world.stdin.isatty():
            raise Usage(f"{question} Expected --yes, as there is no terminal to ask on")
        with _interruptible():
            self.world.stderr.write(f"{question} [y/N] ")
            self.world.stderr.flush()
            answer = self.world.stdin.readline()
        if answer.strip().lower() not in ("y", "yes"):
            raise Stopped("nothing was changed")

    def read(self) -> str:
        """All of standard input."""
        with _interruptible():
            return self.world.stdin.read()


@contextmanager
def _interruptible() -> Generator[None]:
    """Let Ctrl-C end a read: asyncio would only note it, and wait for the read."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


@asynccontextmanager
async def connect(at: Invocation) -> AsyncGenerator[Session]:
    """Raises:
    Usage: a setting is not understood.
    """
    settings, patience = at.settings(), at.given.patience
    minter = identity.minter(at.world, settings)
    async with httpx2.AsyncClient(timeout=None) as http:
        api = Api(http, endpoint=settings.endpoint, minter=minter, clock=at.world.clock, patience=patience)
        yield Session(world=at.world, settings=settings, out=at.out, api=api, patience=patience)
