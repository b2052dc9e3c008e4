"""What the command needs of the machine it runs on; `main` fills it in."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TextIO

from services.cli.options import Format, Given
from services.cli.output import Output
from services.cli.settings import Places, Settings, Source, read
from services.kernel.ports import Clock, Ids, Minter

LocalSigner = Callable[[Path, str], Minter]
"""Signs as the given e-mail with the local stack's key file."""


@dataclass(frozen=True, slots=True, kw_only=True)
class World:
    environment: Mapping[str, str]
    places: Places
    stdin: TextIO
    stdout: TextIO
    stderr: TextIO
    clock: Clock
    ids: Ids
    local_signer: LocalSigner

    def output(self, given: Given) -> Output:
        return Output(
            stdout=self.stdout,
            stderr=self.stderr,
            format=given.format or Format.TABLE,
            quiet=given.quiet,
            no_color=given.no_color or "NO_COLOR" in self.environment,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Invocation:
    """The machine, and the global options seen so far."""

    world: World
    given: Given

    def with_given(self, given: Given) -> "Invocation":
        return Invocation(world=self.world, given=self.given.then(given))

    @property
    def out(self) -> Output:
        return self.world.output(self.given)

    def settings(self) -> Settings:
        """Raises:
        Usage: a setting is not understood.
        """
        return read(
            self.world.places,
            flags=Source(origin="--endpoint", endpoint=self.given.endpoint, project=self.given.project),
            environment=self.world.environment,
        )
