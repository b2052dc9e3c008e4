"""What really happened, held against what is stored: at each thing that a command does, at each commit, in the end."""

from collections import defaultdict
from dataclasses import dataclass, field
from datetime import timedelta

from services.coordinator.records.run import Run
from services.kernel.runs import Directive, Status, Verdict
from tests.simulation.invariants.step import ENDS
from tests.simulation.runner_service.effects import Did, Effect, Effects
from tests.simulation.runner_service.said import Said
from tests.simulation.runner_service.sandbox import Kept
from tests.simulation.world import World

LEASE = timedelta(seconds=30)
_RENEWING = ("claim", "start", "heartbeat")


@dataclass(slots=True, kw_only=True)
class Truth:
    """`written` is what a run's commands wrote, `lease` when a runner last sent what it then heard an answer to."""

    world: World
    effects: Effects
    said: list[Said] = field(default_factory=list[Said])
    started: dict[str, str] = field(default_factory=dict[str, str])
    lease: dict[str, timedelta] = field(default_factory=dict[str, timedelta])
    written: defaultdict[str, str] = field(default_factory=lambda: defaultdict(str))
    alive: list[Kept] = field(default_factory=list[Kept])
    begun: set[tuple[str, str]] = field(default_factory=set[tuple[str, str]])

    def wrong(self, found: str) -> None:
        if found not in self.world.violations:
            self.world.violations.append(found)

    # The sandbox

    def opened(self, kept: Kept) -> None:
        self.alive.append(kept)
        self.world.testimony.torn_down.discard(kept.run)

    def torn_down(self, run: str) -> None:
        self.world.testimony.torn_down.add(run)

    def acted(self, effect: Effect, kept: Kept) -> None:
        """Something was done by a command, or it ended."""
        self.effects.add(effect)
        if effect.did is Did.ENDED:
            return
        run = self.world.state.runs[effect.run]
        if effect.did is Did.BEGAN:
            self._began(effect)
        for other in self.alive:
            same = self.world.state.runs[other.run].project_id == run.project_id
            if other is not kept and same and other.alive and not other.dead:
                self.wrong(f"Q1: commands of {other.run} and {effect.run} run together")
        self._ours(effect, run)

    def _began(self, effect: Effect) -> None:
        place = (effect.run, effect.step)
        if place in self.begun:
            self.wrong(f"Q14: step {effect.step} of {effect.run} began again")
        if not any(run == effect.run for run, _ in self.begun):
            self.world.testimony.executed[effect.run] += 1
        self.begun.add(place)

    def _ours(self, effect: Effect, run: Run) -> None:
        """Commands run for the one whose run it is, once it may, on its commit, and not after its lease."""
        project = self.world.state.projects[run.project_id]
        active = None if project.active is None or project.active.lock_held else project.active.run_id
        if active != run.run_id or run.status in ENDS:
            self.wrong(f"Q8: {effect.step} of {run.run_id} works, which is {run.status} and not active")
        if self.started.get(run.run_id) is None:
            self.wrong(f"S5: {effect.step} of {run.run_id} works before a start was accepted")
        elif not effect.commit == self.started[run.run_id] == run.commit_sha:
            self.wrong(f"S5: {effect.step} of {run.run_id} works on {effect.commit}, accepted was {run.commit_sha}")
        if timedelta(seconds=effect.at) >= self.lease.get(run.run_id, -LEASE) + LEASE:
            self.wrong(f"Q8: {effect.step} of {run.run_id} works at {effect.at}, after its lease")

    # The wire

    def asked(self, said: Said) -> None:
        """A message is on its way."""
        testimony = self.world.testimony
        kept = said.process.sandbox.kept
        if said.name == "start" and kept is not None:
            testimony.checked_out.setdefault(said.run, kept.head)
        if said.name == "report":
            testimony.reported.setdefault(said.run, set()).add(Status(str(said.message.status)))
        if said.name == "complete" and kept is None:
            testimony.torn_down.add(said.run)

    def heard(self, said: Said) -> None:
        """Its sender knows the answer."""
        if said.answer is None or not said.accepted:
            return
        if said.answer.verdict is Verdict.EXECUTE:
            self.world.testimony.claimed(said.run, said.message.attempt)
        if said.name == "start" and said.answer.directive is Directive.CONTINUE:
            self.started[said.run] = said.message.commit_sha
        if said.name in _RENEWING and said.answer.verdict in (None, Verdict.EXECUTE):
            self.lease[said.run] = max(said.sent_at, self.lease.get(said.run, said.sent_at))
