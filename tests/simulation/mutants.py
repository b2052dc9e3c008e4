"""Planted bugs that a test of the simulation's own sight plants for a moment; `make mutants` has these among others."""

from contextlib import AbstractContextManager
from datetime import datetime

from services.coordinator.records.delivery import Delivery
from services.coordinator.records.project import Project
from services.coordinator.records.run import Run
from services.coordinator.rules import attempt, deliveries
from services.coordinator.rules.numbers import Numbers
from services.kernel.runs import Verdict
from services.kernel.wire.deliveries import AcceptDelivery
from tests.simulation.world import replaced

Planted = AbstractContextManager[None]


def lets_anybody_claim() -> Planted:
    """Whoever asks for a run that has begun is told to execute it (Q13)."""

    def stale(run: Run, attempt_hash: str) -> Verdict:
        return Verdict.EXECUTE

    return replaced(attempt, "_stale", stale)


def decides_replays_anew() -> Planted:
    """A stored outcome is not looked at: a delivery that comes again is decided again (D5)."""
    original = deliveries.decide

    def decide(
        project: Project, found: Delivery | None, command: AcceptDelivery, *, now: datetime, numbers: Numbers
    ) -> deliveries.Recorded:
        return original(project, None, command, now=now, numbers=numbers)

    return replaced(deliveries, "decide", decide)
