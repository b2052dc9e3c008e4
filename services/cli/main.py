"""The `anvil` command's start: reads the environment and chooses adapters."""

import os
import sys
from pathlib import Path
from typing import TextIO, cast

from services.cli.app import run
from services.cli.exits import Exit, Usage
from services.cli.settings import places
from services.cli.world import World
from services.kernel.adapters.clock import SystemClock, SystemIds
from services.kernel.adapters.local_minter import LocalMinter
from services.kernel.ports import Minter

ISSUER = "https://anvil.local"


def main() -> None:
    if cast("TextIO | None", sys.stdout) is None:  # As by `>&-`; what is to be said there would be lost unnoticed.
        print("anvil: standard output is closed", file=sys.stderr)
        sys.exit(Exit.ERROR)
    try:
        code = run(sys.argv[1:], _world())
        sys.stdout.flush()
    except OSError as error:
        code = Exit.ERROR
        if not isinstance(error, BrokenPipeError):  # Whoever read the output has enough of it.
            print(f"anvil: {error}", file=sys.stderr)
        # What Python would flush at its exit must go nowhere too.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    sys.exit(code)


def _world() -> World:
    clock = SystemClock()

    def sign(key_file: Path, email: str) -> Minter:
        try:
            return LocalMinter(key_file, email=email, issuer=ISSUER, clock=clock)
        except (OSError, ValueError) as error:
            raise Usage(f"{key_file}: expected the local stack's key: {error}") from error

    return World(
        environment=os.environ,
        places=places(os.environ, home=Path.home(), working=Path.cwd()),
        stdin=sys.stdin,
        stdout=sys.stdout,
        stderr=sys.stderr,
        clock=clock,
        ids=SystemIds(),
        local_signer=sign,
    )


if __name__ == "__main__":
    main()
