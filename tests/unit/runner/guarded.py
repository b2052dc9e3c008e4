"""A runner reduced to its guard, as a process of its own: starts a command and says where both are.

python -m tests.unit.runner.guarded LEASE_SECONDS SCRIPT
"""

import asyncio
import os
import sys
import time
from datetime import timedelta
from pathlib import Path

from services.runner.sandbox import Launch
from services.runner.sandbox.guard.client import Guard


async def main(lease: float, script: str) -> None:
    until = timedelta(seconds=time.clock_gettime(time.CLOCK_BOOTTIME) + lease)
    guard = await Guard.begin(lease_until=until)
    sys.stdout.write(f"{guard.pid}\n")
    sys.stdout.flush()
    start = Launch(
        argv=("bash", "-c", script),
        directory=Path("/"),
        environment={"PATH": "/usr/bin:/bin"},
        stdout=sys.stdout.fileno(),
        stderr=sys.stderr.fileno(),
    )
    await guard.launch(start)
    await asyncio.get_running_loop().create_future()


if __name__ == "__main__":
    os.setsid()
    asyncio.run(main(float(sys.argv[1]), sys.argv[2]))
