"""The command inside the test's own process, where nothing needs to be reached."""

from collections.abc import Mapping
from dataclasses import dataclass
from io import StringIO
from pathlib import Path

from services.cli.app import run
from services.cli.settings import places
from services.cli.world import World
from services.kernel.adapters.clock import SystemClock, SystemIds
from services.kernel.ports import IdentityToken


class Nobody:
    async def mint(self, audience: str) -> IdentityToken:
        return IdentityToken("nobody", SystemClock().now())


@dataclass(frozen=True, slots=True)
class Said:
    code: int
    out: str
    err: str


def say(*arguments: str, home: Path, environment: Mapping[str, str] | None = None, stdin: str = "") -> Said:
    """What the command makes of a line, with `home` as home and working directory."""
    stdout, stderr = StringIO(), StringIO()
    world = World(
        environment=environment or {},
        places=places({}, home=home, working=home),
        stdin=StringIO(stdin),
        stdout=stdout,
        stderr=stderr,
        clock=SystemClock(),
        ids=SystemIds(),
        local_signer=lambda key, email: Nobody(),
    )
    return Said(run(arguments, world), stdout.getvalue(), stderr.getvalue())
