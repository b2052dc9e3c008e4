"""Anvil's executor and ledger on an embedded store, a fresh one for each situation."""

import os
import sys
from pathlib import Path

from bench.idempotency.side import Side
from bench.idempotency.upstream import Upstream


def anvil(folder: Path, upstream: Upstream) -> Side:
    return Side(
        name="Anvil",
        program=(sys.executable, "-m", "bench.idempotency.anvil_caller"),
        told={"upstream": upstream.url, "store": str(folder / "ledger.db")},
        claims_by_age=False,
        environment={"PATH": os.defpath},
    )
