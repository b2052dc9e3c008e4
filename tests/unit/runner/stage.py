"""A whole run in one place: a real repository, real bash, and a coordinator in memory."""

import asyncio
import re
from datetime import timedelta
from pathlib import Path

from services.kernel.adapters.clock import SystemClock, SystemIds
from services.kernel.runs import Verdict
from services.kernel.wire.runs import Job
from services.runner.checkout.source import LOCAL
from services.runner.ending import Ending
from services.runner.execute import execute
from services.runner.logs import LogLimits
from services.runner.means import Means
from services.runner.numbers import Numbers
from services.runner.sandbox.process import ProcessSandbox
from tests.unit.runner.desk import RUN, Desk, job
from tests.unit.runner.origin import Origin

TICK = timedelta(milliseconds=50)
NUMBERS = Numbers(
    heartbeat=TICK,
    lease=timedelta(seconds=10),
    grace=timedelta(seconds=10),
    log=LogLimits(every=timedelta(milliseconds=10)),
    last_words=timedelta(seconds=5),
)
FOREVER = "echo ready; while :; do sleep 0.01 || :; done"


def steps(*scripts: str, more: str = "") -> str:
    """A pipeline of these scripts, as steps named `one`, `two`, …"""
    names = ("one", "two", "three")
    listed = "".join(f"    - {{name: {name}, run: {script!r}}}\n" for name, script in zip(names, scripts, strict=False))
    return f"version: 1\nrun:\n  steps:\n{listed}{more}" if scripts else f"version: 1\nrun:\n  steps: []\n{more}"


class Stage:
    """A repository, a sandbox, and a run of its head."""

    def __init__(self, tmp_path: Path) -> None:
        self.origin = Origin.create(tmp_path / "origin")
        self.work = tmp_path / "work"
        self.ending = Ending()
        self.numbers = NUMBERS
        self.clock = SystemClock()
        self.sandbox = ProcessSandbox(self.work, clock=self.clock)

    def job(self, pipeline: str, **files: str) -> Job:
        """The job to run this pipeline."""
        return job(self.origin.url, sha=self.origin.commit({".anvil.yml": pipeline, **files}))

    def means(self, desk: Desk) -> Means:
        return Means(
            coordinator=desk,
            sandbox=self.sandbox,
            clock=self.clock,
            ids=SystemIds(),
            numbers=self.numbers,
            protocols=LOCAL,
        )

    async def run(self, desk: Desk) -> Verdict:
        async with asyncio.timeout(30):
            return (await execute(RUN, self.means(desk), self.ending)).verdict

    def left(self) -> list[str]:
        return [path.name for path in self.work.iterdir()] if self.work.exists() else []


def pids(text: str) -> list[int]:
    """The processes that commands told of, as `pid 123`."""
    return [int(pid) for pid in re.findall(r"pid (\d+)", text)]
