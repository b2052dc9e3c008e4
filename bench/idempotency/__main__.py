"""`python -m bench.idempotency [folder]`: run both sides, and write the table into the decision that rests on it.

`folder` keeps the peer's environment between runs; without one it is made anew in a temporary place.
"""

import asyncio
import socket
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from bench.idempotency.anvil_side import anvil
from bench.idempotency.powertools_side import PACKAGES, install, powertools
from bench.idempotency.situations import SITUATIONS, Situation
from bench.idempotency.upstream import upstream

DECISION = Path(__file__).parents[2] / "docs" / "decisions" / "0017-a-ledger-of-our-own.md"
BEGIN, END = "<!-- measured -->\n", "<!-- /measured -->"


@dataclass(frozen=True, slots=True)
class Row:
    """What a side did: how often the other system acted, and what callers were told."""

    charges: int
    told: str

    def __str__(self) -> str:
        return f"**{self.charges}**: {self.told}"


async def measure(situation: Situation, python: Path | None, *, validates: str = "") -> Row:
    """One situation on one side, from nothing; Anvil's without the peer's `python`."""
    with tempfile.TemporaryDirectory() as folder:
        async with upstream(Path(folder) / "effects") as other:
            if python is None:
                told = await situation(anvil(Path(folder), other), other)
            else:
                async with powertools(python, other, port=_free_port()) as peer:
                    told = await situation(peer.side(validates=validates), other)
            return Row(other.charges, told)


async def compare(python: Path) -> list[str]:
    """The table, in Markdown."""
    lines = ["| situation | Anvil | Powertools |", "|---|---|---|"]
    for name, situation in SITUATIONS.items():
        ours, theirs = await measure(situation, None), await measure(situation, python)
        lines.append(f"| {name} | {ours} | {theirs} |")
        _say(lines[-1])
    validated = await measure(SITUATIONS["two principals"], python, validates="payer")
    lines += ["", f"Two principals again, with Powertools told to validate who pays: {validated}."]
    _say(lines[-1])
    return lines


def write(lines: list[str]) -> None:
    before, _, rest = DECISION.read_text().partition(BEGIN)
    _, _, after = rest.partition(END)
    packages = ", ".join(f"`{each}`" for each in PACKAGES)
    DECISION.write_text(f"{before}{BEGIN}\nWith {packages}.\n\n" + "\n".join(lines) + f"\n\n{END}{after}")


def _free_port() -> int:
    with socket.socket() as probing:
        probing.bind(("127.0.0.1", 0))
        port: int = probing.getsockname()[1]
        return port


def _say(text: str) -> None:
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


def main(folder: Path) -> None:
    write(asyncio.run(compare(install(folder))))


if __name__ == "__main__":
    if len(sys.argv) > 1:
        main(Path(sys.argv[1]))
    else:
        with tempfile.TemporaryDirectory() as scratch:
            main(Path(scratch))
