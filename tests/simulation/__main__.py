"""`python -m tests.simulation`: kill every flow everywhere, let storms rage, and print what came of it."""

import asyncio
import sys
import tempfile
from pathlib import Path

from tests.simulation.crash_points import explore, table
from tests.simulation.flows import FLOWS
from tests.simulation.node import Issuer
from tests.simulation.world import quiet

_PAIRS = 10


async def main() -> int:
    with tempfile.TemporaryDirectory() as folder, quiet():
        issuer = Issuer(Path(folder))
        explored = [await explore(issuer, name, pairs=_PAIRS) for name in FLOWS]
    violations = [f"{each.name}: {found}" for each in explored for found in each.violations]
    sys.stdout.write("\n".join([table(explored), *violations, ""]))
    return 1 if violations else 0


if __name__ == "__main__":
    sys.exit(asyncio.run(main()))
