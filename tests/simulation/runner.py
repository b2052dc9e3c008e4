"""A runner as a small script: claim, start, beat, report, complete; and what it does to the world outside."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from datetime import timedelta
from enum import StrEnum
from typing import TypeVar

from services.kernel.errors import AnvilError, OwnershipLost, Transient
from services.kernel.runs import Directive, Status, Verdict
from services.kernel.wire.runs import LogChunk
from tests.simulation.calls import Calls, Ending, chunk
from tests.simulation.world import World
from tests.unit.coordinator.builders import SHA

Answer = TypeVar("Answer")

LEASE = timedelta(seconds=30)
"""A runner's commands are dead this long after it sent the last thing that was answered."""


class Phase(StrEnum):
    IDLE = "idle"
    CLAIMING = "claiming"
    STARTING = "starting"
    RUNNING = "running"
    REPORTING = "reporting"
    COMPLETING = "completing"


@dataclass(slots=True, kw_only=True)
class Runner:
    """`ending` is how its commands will end, `pieces` how many chunks of log they write before, and `at_once` how many
    of them go into one call; `torn_down` whether its sandbox lets itself be torn down. `peers` are all runners of the
    world.
    """

    world: World
    run_id: str = ""
    token: str = ""
    phase: Phase = Phase.IDLE
    ending: Ending = Status.PASSED
    torn_down: bool = True
    pieces: int = 1
    at_once: int = 1
    log: list[LogChunk] = field(default_factory=list[LogChunk])
    kept: int = 0
    alive_until: timedelta = timedelta()
    peers: list["Runner"] = field(default_factory=list["Runner"])

    def take(self, run_id: str) -> None:
        self.run_id, self.token = run_id, self.world.ids.token()
        self.phase, self.log, self.kept = Phase.CLAIMING, [], 0

    def dies(self) -> None:
        """Without a word; whatever it ran dies with it."""
        self.phase = Phase.IDLE

    @property
    def executing(self) -> bool:
        """Whether commands of its run are alive."""
        return self.phase is Phase.RUNNING and self.world.clock.elapsed() < self.alive_until

    async def goes_on(self, calls: Calls) -> None:
        """One more call of its script. What is not answered is asked again; what is refused for good ends it."""
        step = _STEPS.get(self.phase)
        if step is None:
            return
        try:
            await self._within_lease(step(self, calls))
        except Transient:
            return
        except OwnershipLost:
            self.world.testimony.reached["a late call of an attempt that lost its run"] += 1
            if self.phase is Phase.REPORTING:
                self.world.testimony.reached["a late report of an attempt that lost its run"] += 1
            self.phase = Phase.IDLE
        except AnvilError:
            self.phase = Phase.IDLE

    async def beats(self, calls: Calls) -> None:
        """Renew the lease; an order to cancel ends the commands."""
        if self.phase is not Phase.RUNNING:
            return
        try:
            directive = await self._within_lease(calls.beat(self.run_id, self.token))
        except Transient:
            return
        except AnvilError:
            self.phase = Phase.IDLE
            return
        if directive is Directive.CANCEL:
            self._stops(Status.CANCELED)

    async def claims(self, calls: Calls) -> None:
        verdict = await calls.claim(self.run_id, self.token)
        if verdict is Verdict.EXECUTE:
            self.world.testimony.claimed(self.run_id, self.token)
        self.phase = Phase.STARTING if verdict is Verdict.EXECUTE else Phase.IDLE

    async def starts(self, calls: Calls) -> None:
        sent = self.world.clock.elapsed()
        self.world.testimony.checked_out.setdefault(self.run_id, SHA)
        directive = await calls.start(self.run_id, self.token, sha=SHA)
        if directive is Directive.CANCEL:
            self._stops(Status.CANCELED)
        elif self.world.clock.elapsed() >= sent + LEASE:
            self.phase = Phase.IDLE
        else:
            self._executes()

    async def finishes(self, calls: Calls) -> None:
        """Send what is next of the log; with the last piece the commands have ended."""
        if self.kept < len(self.log):
            self.world.testimony.reached["a log that was sent again"] += 1
        while len(self.log) < min(self.kept + self.at_once, self.pieces):
            self._writes()
        await calls.append(self.run_id, self.token, *self.log[self.kept :])
        self.kept = len(self.log)
        self.world.testimony.kept[self.run_id] = max(self.kept, self.world.testimony.kept[self.run_id])
        if self.kept >= self.pieces:
            self._stops(self.ending)

    async def reports(self, calls: Calls) -> None:
        self.world.testimony.reported.setdefault(self.run_id, set()).add(self.ending)
        await calls.report(self.run_id, self.token, self.ending)
        self.phase = Phase.COMPLETING

    async def completes(self, calls: Calls) -> None:
        if self.torn_down:
            self.world.testimony.torn_down.add(self.run_id)
        await calls.complete(self.run_id, self.token, torn_down=self.torn_down)
        self.phase = Phase.IDLE

    def _executes(self) -> None:
        runs = self.world.state.runs
        for other in self.peers:
            if other.executing and runs[other.run_id].project_id == runs[self.run_id].project_id:
                self.world.violations.append(f"Q1: commands of {other.run_id} and {self.run_id} run together")
        self.world.testimony.executed[self.run_id] += 1
        self.phase = Phase.RUNNING

    def _writes(self) -> None:
        last = self.log[-1] if self.log else None
        offset = 0 if last is None else last.offset + len(last.text.encode())
        text = f"{self.token}, piece {len(self.log)}: \u00fcber\n"
        self.log.append(chunk(text, seq=len(self.log), first_line=len(self.log) + 1, offset=offset))
        self.world.testimony.written.setdefault(self.run_id, []).append(text)

    def _stops(self, ending: Ending) -> None:
        self.ending, self.phase = ending, Phase.REPORTING

    async def _within_lease(self, asked: Awaitable[Answer]) -> Answer:
        sent = self.world.clock.elapsed()
        answer = await asked
        self.alive_until = max(self.alive_until, sent + LEASE)
        return answer


_STEPS: dict[Phase, Callable[[Runner, Calls], Awaitable[None]]] = {
    Phase.CLAIMING: Runner.claims,
    Phase.STARTING: Runner.starts,
    Phase.RUNNING: Runner.finishes,
    Phase.REPORTING: Runner.reports,
    Phase.COMPLETING: Runner.completes,
}
