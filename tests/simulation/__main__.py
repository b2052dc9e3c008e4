"""`python -m tests.simulation [seeds]`: kill every flow everywhere, let storms rage, and print what came of it."""

import asyncio
import sys
import tempfile
from collections import Counter
from pathlib import Path

from tests.simulation.crash_points import explore, table
from tests.simulation.flows import FLOWS
from tests.simulation.node import Issuer
from tests.simulation.storm import STEPS, rage
from tests.simulation.world import quiet

_PAIRS = 10
_SEEDS = 100


async def main(seeds: int) -> int:
    """0, if no promise was broken."""
    with tempfile.TemporaryDirectory() as folder, quiet():
        issuer = Issuer(Path(folder))
        explored = [await explore(issuer, name, pairs=_PAIRS) for name in FLOWS]
        _say(table(explored), "", f"{seeds} storms of {STEPS} steps reached:")
        broken = [f"{each.name}: {found}" for each in explored for found in each.violations]
        reached: Counter[str] = Counter()
        for seed in range(seeds):
            world, violations = await rage(issuer, seed)
            reached.update(world.testimony.reached)
            broken += [f"seed {seed}: {found}" for found in violations]
    _say(*(f"{times:>7}  {state}" for state, times in reached.most_common()), "", f"{len(broken)} violations", *broken)
    return 1 if broken else 0


def _say(*lines: str) -> None:
    sys.stdout.write("\n".join([*lines, ""]))
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(asyncio.run(main(int(sys.argv[1]) if len(sys.argv) > 1 else _SEEDS)))
