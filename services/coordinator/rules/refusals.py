"""How refused deliveries are counted: for webhooks that exist, since their last rotation (C26).

A tally names the rotation that it counts from, so a rotation ends it without a write of its own.
"""

from collections import Counter, defaultdict
from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime

from services.coordinator.records.project import Project
from services.coordinator.records.refusals import Refusals, Tally
from services.kernel.wire.webhooks import CountRefusals


def add(found: Refusals | None, project: Project, command: CountRefusals, *, now: datetime) -> Refusals | None:
    """The counters with the command's added; None where it is about no webhook of the project's."""
    before = found or Refusals(project_id=project.project_id)
    present = current(before, project)
    tallies = {
        provider.value: Tally(
            since=project.webhooks[provider].rotated_at,
            last_at=now,
            counts=dict(Counter(present[provider]) + Counter({reason.value: times for reason, times in more.items()})),
        )
        for provider, more in command.refused.items()
        if provider in project.webhooks
    }
    return replace(before, tallies={**before.tallies, **tallies}) if tallies else None


def current(found: Refusals | None, project: Project) -> Mapping[str, Mapping[str, int]]:
    """By provider, what was counted since the last rotation; nothing for any other."""
    counts: defaultdict[str, Mapping[str, int]] = defaultdict(dict)
    for provider, webhook in project.webhooks.items():
        tally = None if found is None else found.tallies.get(provider)
        if tally is not None and tally.since == webhook.rotated_at:
            counts[provider] = tally.counts
    return counts
