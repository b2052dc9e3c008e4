"""A process that executes one operation, to be killed in the middle of it: `python -m … FOLDER PORT MODE`."""

import asyncio
import sys
from pathlib import Path

from tests.unit.coordinator.operations.desk import open_desk, operation


def main(folder: str, port: str, mode: str) -> None:
    with open_desk(Path(folder), first_id=1_000_000) as desk:
        asyncio.run(desk.execute(operation(mode, port=int(port))))


if __name__ == "__main__":
    main(*sys.argv[1:])
