"""D and K: what was delivered is decided once, and verified by the secret that is there."""

from collections import Counter
from collections.abc import Iterator
from datetime import datetime, timedelta

from services.kernel.wire.deliveries import Outcome
from tests.simulation.hosts import FORGED_SHA
from tests.simulation.invariants.step import Check, Step

DEDUPE = timedelta(hours=72)


def d4(step: Step) -> Iterator[str]:
    """Within 72 hours an outcome changes from `queue_full` to `accepted` alone (D9)."""
    for row_id, row in step.after.deliveries.items():
        was = step.before.deliveries.get(row_id)
        if was is None or (was.outcome is row.outcome and was.run_id == row.run_id):
            continue
        allowed = was.outcome is Outcome.QUEUE_FULL and row.outcome is Outcome.ACCEPTED
        if step.at < was.expires_at and not allowed:
            yield f"{row_id} went from {was.outcome} {was.run_id} to {row.outcome} {row.run_id}"
    for row_id in step.before.deliveries.keys() - step.after.deliveries.keys():
        yield f"{row_id} was deleted"


def d6(step: Step) -> Iterator[str]:
    """Accepted means a run and its push, written together (D8); no delivery becomes two runs in 72 hours (D7)."""
    for row_id, row in step.after.deliveries.items():
        if (row.run_id is not None) != (row.outcome is Outcome.ACCEPTED):
            yield f"{row_id} is {row.outcome} with run {row.run_id}"
        if row.run_id is not None and not (row.run_id in step.after.runs and row.run_id in step.after.ref_events):
            yield f"{row_id} is accepted, but {row.run_id} or its push is not there"
        if row.expires_at != row.decided_at + DEDUPE:
            yield f"{row_id} was decided at {row.decided_at} and expires at {row.expires_at}"
    made = Counter(
        run.delivery_id
        for run in step.after.runs.values()
        if run.source_run_id is None and run.delivery_id is not None and step.at - run.queued_at < DEDUPE
    )
    for row_id, times in made.items():
        if times > 1:
            yield f"{row_id} became {times} runs"


def d7(step: Step) -> Iterator[str]:
    """All who were answered about one delivery within 72 hours were told of one run."""
    told: dict[tuple[str, ...], tuple[datetime, str]] = {}
    for each in step.testimony.answers:
        if each.answer.run_id is None:
            continue
        since, run_id = told.setdefault(each.key, (each.answer.first_seen_at, each.answer.run_id))
        if run_id != each.answer.run_id:
            if each.at - since < DEDUPE:
                yield f"{each.key} was told of {run_id} and of {each.answer.run_id}"
            told[each.key] = (each.answer.first_seen_at, each.answer.run_id)


def d1(step: Step) -> Iterator[str]:
    """What was told by somebody without the secret is nowhere; all are refused alike (H2)."""
    for row in step.after.deliveries.values():
        if row.commit_sha == FORGED_SHA:
            yield f"{row.row_id} tells of a forged push"
    if len(step.testimony.refusals) > 1:
        yield f"refusals tell themselves apart: {sorted(step.testimony.refusals)}"


def k4(step: Step) -> Iterator[str]:
    """A webhook's secret is the one sent for it; only a rotation that named it replaces it (K3, K5)."""
    for was, project in step.projects():
        for provider, webhook in project.webhooks.items():
            old = was.webhooks.get(provider)
            if old is None or old.secret == webhook.secret:
                continue
            chosen = step.testimony.rotations.get(webhook.version)
            if chosen is not None and webhook.secret.secret_id != f"secret-{webhook.version}":
                yield f"{provider} at {webhook.version} has {webhook.secret.secret_id}"
            if chosen != old.version and old.version not in step.testimony.rotated:
                yield f"{provider} went from {old.version} to {webhook.version}, which nobody asked for"


DELIVERIES: tuple[Check, ...] = (d1, d4, d6, d7, k4)
