"""A coordinator in memory, for one run: it answers as the real one does, or as a test tells it to."""

import asyncio
from collections import defaultdict
from collections.abc import Callable
from datetime import UTC, datetime
from typing import TypeVar

from services.kernel.errors import OwnershipLost
from services.kernel.ids import RunId
from services.kernel.runs import Directive, Verdict
from services.kernel.wire.model import Wire
from services.kernel.wire.runs import AppendLog, Claim, ClaimAnswer, Complete, Heartbeat, Job, Orders, Report, Start

RUN = RunId("run_0000000000000000000001")
CLAIMED = datetime(2026, 11, 30, 9, 30, tzinfo=UTC)

Message = TypeVar("Message", bound=Wire)


def job(url: str, *, branch: str = "main", sha: str | None = None) -> Job:
    return Job(
        run_id=RUN,
        project="demo",
        project_id="prj_0000000000000000000001",
        repository_url=url,
        config_path=".anvil.yml",
        branch=branch,
        commit_sha=sha,
        claimed_at=CLAIMED,
    )


class Desk:
    """Implements `Coordinator`. `calls` are the messages in the order in which they came, with their names.

    `fail(name, …)` makes the next calls of that name fail before anything happens, `lose(name, …)` after it happened.
    """

    def __init__(self, job: Job | None, *, verdict: Verdict = Verdict.EXECUTE) -> None:
        self.calls: list[tuple[str, Wire]] = []
        self.directive = Directive.CONTINUE
        self.owned = True
        self.refusing: dict[str, Exception] = {}
        self.watch: Callable[[str], None] = lambda name: None
        self._answer = ClaimAnswer(verdict=verdict, job=job)
        self._log: dict[int, str] = {}
        self._failures: dict[str, list[Exception]] = defaultdict(list)
        self._losses: dict[str, list[Exception]] = defaultdict(list)
        self._came = asyncio.Event()

    # What a test does

    def give(self, job: Job) -> None:
        """Answer claims with another job."""
        self._answer = ClaimAnswer(verdict=Verdict.EXECUTE, job=job)

    def fail(self, name: str, *errors: Exception) -> None:
        self._failures[name] += errors

    def lose(self, name: str, *errors: Exception) -> None:
        self._losses[name] += errors

    def took(self, kind: type[Message]) -> list[Message]:
        """The messages of one kind that came."""
        return [message for _, message in self.calls if isinstance(message, kind)]

    def names(self) -> list[str]:
        """The calls without the heartbeats and the log, which come when they come."""
        return [name for name, _ in self.calls if name not in ("heartbeat", "append_log")]

    @property
    def log(self) -> str:
        return "".join(self._log[seq] for seq in sorted(self._log))

    @property
    def report_taken(self) -> Report:
        (report,) = self.took(Report)
        return report

    async def came(self, name: str, times: int = 1) -> None:
        """Wait for the call to have come so often."""
        await self._until(lambda: sum(each == name for each, _ in self.calls) >= times)

    async def logged(self, text: str) -> None:
        """Wait for the log to hold this."""
        await self._until(lambda: text in self.log)

    # What a runner asks

    async def claim(self, run: RunId, message: Claim) -> ClaimAnswer:
        self._take("claim", message, fenced=False)
        return self._answer

    async def start(self, run: RunId, message: Start) -> Orders:
        self._take("start", message)
        return Orders(directive=self.directive)

    async def heartbeat(self, run: RunId, message: Heartbeat) -> Orders:
        self._take("heartbeat", message)
        return Orders(directive=self.directive)

    async def append_log(self, run: RunId, message: AppendLog) -> None:
        self._log.update({chunk.seq: chunk.text for chunk in message.chunks if self.owned})
        self._take("append_log", message)

    async def report(self, run: RunId, message: Report) -> None:
        self._take("report", message)

    async def complete(self, run: RunId, message: Complete) -> None:
        self._take("complete", message)

    def _take(self, name: str, message: Wire, *, fenced: bool = True) -> None:
        self.watch(name)
        self.calls.append((name, message))
        self._came.set()
        if name in self.refusing:
            raise self.refusing[name]
        if self._failures[name]:
            raise self._failures[name].pop(0)
        if fenced and not self.owned:
            raise OwnershipLost
        if self._losses[name]:
            raise self._losses[name].pop(0)

    async def _until(self, condition: Callable[[], bool]) -> None:
        async with asyncio.timeout(20):
            while not condition():
                self._came.clear()
                await self._came.wait()
