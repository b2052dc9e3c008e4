"""Real GitHub deliveries, where a corpus of them is at hand: a folder named by `ANVIL_CORPUS`."""

import json
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import cast

import pytest

from services.ingress.providers.github import GitHub
from services.kernel.errors import InvalidPayload
from services.kernel.wire.deliveries import Canonical, EventKind
from tests.unit.ingress.github_deliveries import GUID, received

Entry = Mapping[str, object]


def entries() -> Iterator[Entry]:
    if (folder := os.environ.get("ANVIL_CORPUS")) is None:
        return
    index = cast("Mapping[str, list[Entry]]", json.loads((Path(folder) / "index.json").read_text()))
    for entry in [*index["public"], *index["derived"]]:
        if "github" in (entry.get("provider"), expected(entry).get("provider")):
            yield {**entry, "body": (Path(folder) / str(entry["file"])).read_bytes()}


def expected(entry: Entry) -> Mapping[str, str | None]:
    return cast("Mapping[str, str | None]", entry["expected"])


def event(entry: Entry) -> str:
    return str(entry.get("rawEvent") or expected(entry)["rawEvent"])


def outcome(delivery: Canonical, *, tracked: str | None) -> str:
    match delivery.event_kind:
        case EventKind.PING:
            return "ignored_ping"
        case EventKind.PUSH:
            return "accepted" if delivery.branch == (tracked or "main") else "ignored_branch"
        case EventKind.TAG | EventKind.DELETION | EventKind.OTHER:
            return "ignored_event"


CORPUS = list(entries())


@pytest.mark.skipif(not CORPUS, reason="ANVIL_CORPUS names no folder of deliveries")
@pytest.mark.parametrize("entry", CORPUS, ids=[str(entry["file"]) for entry in CORPUS])
def test_a_real_delivery_becomes_what_it_means(entry: Entry) -> None:
    wanted = expected(entry)
    delivery = received(cast("bytes", entry["body"]), event=event(entry))
    if wanted["result"] == "invalid_payload(400)":
        with pytest.raises(InvalidPayload):
            GitHub().normalise(delivery, delivery_id=GUID)
        return
    found = GitHub().normalise(delivery, delivery_id=GUID)
    assert outcome(found, tracked=wanted.get("trackedBranchAssumed")) == wanted["result"]
    assert (found.ref, found.branch) == (wanted["ref"], wanted["branch"])
    assert (found.commit_sha, found.before_sha) == (wanted["commitSha"], wanted["beforeSha"])
    assert "repositoryUrl" not in wanted or found.repository_url == wanted["repositoryUrl"]
