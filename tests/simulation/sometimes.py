"""Interesting states: a suite that never reached one of them has proven nothing about it, and fails.

A state is counted where it is reached, by its name, in `Testimony.reached`. The list says why each is of interest.
"""

from collections.abc import Mapping

from services.coordinator.records.run import IndexSync
from services.kernel.runs import Status
from tests.simulation.invariants.step import Step

STATES: Mapping[str, str] = {
    "a delivery that came again": "hosts repeat what was not answered: one run (D7)",
    "a delivery that came again while it was decided": "two instances decide about one key at once (D7)",
    "a full queue, then accepted": "the only outcome that changes (D4)",
    "a run refused by a full queue": "nothing may be left of it (Q16)",
    "an expired delivery, decided anew": "a row past its end is as good as absent, deleted or not (D9)",
    "a rotation during a delivery": "verified by a secret that is not valid any more when it is recorded (C11)",
    "an old secret, refused where it was known": "what an instance keeps must not outlive a rotation (K4)",
    "a webhook made again": "its deliveries are still known (D12)",
    "a cancel during starting": "the order finds no commands yet",
    "an end before the index knew the run": "the first and the last row are one (Y8)",
    "a takeover": "a runner that was thought dead (Q8)",
    "a takeover after a report": "what was durably reported stands (Q9)",
    "a late call of an attempt that lost its run": "it is refused and changes nothing (Q8)",
    "a late report of an attempt that lost its run": "it is refused, whatever it says (Q9)",
    "a log that was sent again": "pieces whose answer was lost are stored once",
    "an ambiguous commit, found to be ours": "decided again it is found applied, and answered",
    "an ambiguous commit, found not to be there": "decided again it is written after all",
    "a call that went on though nobody waited": "it is applied when its caller has already asked again",
    "a task that the queue gave up": "Cloud Tasks drops what fails too often (Q12)",
    "a task that was given up, and a sweep that made another": "losing it loses nothing (Q12)",
    "a run handed over by the sweep alone": "no follow-up and no task was needed (Q12)",
    "an instance started anew": "an empty memory",
    "an ingress started anew": "an empty memory: nothing verifies before it is loaded",
    "a stopped process that went on": "in the middle of what it was doing, after others did more",
}
"""By name, with why it is of interest."""


def missing(reached: Mapping[str, int]) -> list[str]:
    return [state for state in STATES if not reached.get(state)]


def interesting(step: Step) -> list[str]:
    """What one commit reached."""
    reached: list[str] = []
    for was, run in step.moved():
        lost = was.attempt_hash is not None and run.attempt_hash is None
        if (was.index_sync, run.index_sync) == (IndexSync.NEEDS_CREATE, IndexSync.NEEDS_TERMINAL_UPDATE):
            reached.append("an end before the index knew the run")
        if (was.status, run.status) == (Status.STARTING, Status.CANCEL_REQUESTED):
            reached.append("a cancel during starting")
        if lost:
            reached.append("a takeover" if was.result is None else "a takeover after a report")
    for was_project, project in step.projects():
        gone = was_project.webhooks.keys() - project.webhooks.keys()
        step.testimony.deleted.update((project.slug, provider) for provider in gone)
        again = project.webhooks.keys() - was_project.webhooks.keys()
        reached += ["a webhook made again" for each in again if (project.slug, each) in step.testimony.deleted]
    for row_id, row in step.after.deliveries.items():
        old = step.before.deliveries.get(row_id)
        if old is not None and old.expires_at <= step.at and row.decided_at > old.decided_at:
            reached.append("an expired delivery, decided anew")
    return reached
