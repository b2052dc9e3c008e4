"""`python -m tests.simulation`: kill every flow everywhere, let storms rage, and say what came of it.

`--seed N` shows one storm again, step by step.
"""

import argparse
import asyncio
import subprocess
import sys
import tempfile
from pathlib import Path

from tests.simulation.campaign import Campaign, raging
from tests.simulation.node import Issuer
from tests.simulation.profile import PROFILES, SMALL, Profile
from tests.simulation.world import quiet


def main() -> int:
    """0, if no promise was broken and every interesting state was reached."""
    asked = _asked()
    if asked.seed is not None:
        return asyncio.run(_again(asked.seed, PROFILES[asked.profile]))
    campaign = Campaign(seeds=asked.seeds, pairs=None if asked.pairs == "all" else int(asked.pairs), only=asked.flow)
    found = campaign.run(workers=asked.workers, say=_say)
    _say("", *found.told(), *(f"at commit {_commit()}" for _ in found.violations[:1]))
    return 1 if found.violations or found.missing else 0


def _asked() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.simulation", description=__doc__)
    parser.add_argument(
        "--seeds", type=int, default=100, help="storms; a tenth as many in real numbers, a third around the ledger"
    )
    parser.add_argument("--pairs", default="2", help="pairs of kills a flow, or all")
    parser.add_argument("--flow", help="only this flow, and no storms")
    parser.add_argument("--workers", type=int, default=2, help="processes")
    parser.add_argument("--seed", type=int, help="show this storm again")
    parser.add_argument("--profile", choices=sorted(PROFILES), default=SMALL.name, help="in which numbers")
    return parser.parse_args()


async def _again(seed: int, profile: Profile) -> int:
    with tempfile.TemporaryDirectory() as folder, quiet():
        world, violations = await raging(profile.name)(Issuer(Path(folder)), seed, profile=profile)
    _say(*world.trace, "", f"{len(violations)} violations", *violations)
    return 1 if violations else 0


def _commit() -> str:
    return subprocess.run(["git", "describe", "--always", "--dirty"], capture_output=True, text=True).stdout.strip()


def _say(*lines: str) -> None:
    sys.stdout.write("\n".join([*lines, ""]))
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
