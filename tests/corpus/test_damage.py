"""No body, whatever is wrong with it, makes the service fail, or a run of what it does not say."""

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import islice

import pytest
from starlette.datastructures import Headers

from services.coordinator.rules.deliveries import classify
from services.ingress.providers.port import Received
from services.ingress.providers.registry import GIT_HOSTS
from services.kernel.errors import InvalidPayload
from services.kernel.wire.deliveries import Outcome
from tests.corpus.bodies import SHA, push, raw
from tests.corpus.damage import damaged
from tests.corpus.entries import ABSENT, REASON, Entry, entries
from tests.corpus.platform import Platform
from tests.corpus.senders import JSON, SECRET, Sender, Sent, send
from tests.unit.coordinator.builders import project

CORPUS = [entry for entry in entries() if entry.result != "invalid_payload(400)" and entry.media_type == JSON]
NAMES = [entry.name for entry in CORPUS]
# One of so many damaged real bodies is tried where it is not a soak, and of the others over HTTP.
EVERY, EVERY_OVER_HTTP = 61, 7


@dataclass(frozen=True, slots=True, kw_only=True)
class Built:
    ref: str
    commit_sha: str | None


def says(body: bytes, built: Built) -> bool:
    """Whether the body, read as plainly as can be, says just that."""
    value = json.loads(body)
    return (value["ref"], value["after"]) == (built.ref, built.commit_sha)


def built(sender: Sender, sent: Sent, *, branch: str) -> Built | None:
    """What a project that follows `branch` builds for a verified delivery."""
    received = Received(headers=Headers(dict(sent.headers)), media_type=JSON, body=sent.body)
    try:
        canonical = GIT_HOSTS[sender.route].normalise(received, delivery_id="d-1")
    except InvalidPayload:
        return None
    if classify(canonical, replace(project(), default_branch=branch)) is not Outcome.ACCEPTED:
        return None
    return Built(ref=f"refs/heads/{canonical.branch}", commit_sha=canonical.commit_sha)


def sample(bodies: Iterable[bytes], *, every: int) -> Iterator[bytes]:
    return islice(bodies, 0, None, every)


def check_all(entry: Entry, bodies: Iterable[bytes]) -> None:
    """Whether each of these in the place of the entry's own body is built as it says, or not at all."""
    sent, branch = entry.sent(id_="d-1", secret=SECRET), str(entry.expected["branch"] or "main")
    for body in bodies:
        found = built(entry.sender, replace(sent, body=body), branch=branch)
        assert found is None or says(body, found), body


@pytest.mark.threat("A21")
@pytest.mark.parametrize("sender", list(Sender))
def test_what_is_built_is_what_the_body_says_whatever_else_is_wrong_with_it(sender: Sender) -> None:
    whole = raw(push(sender))
    assert built(sender, send(sender, whole, id_="d-1"), branch="main") is not None
    for body in damaged(whole):
        found = built(sender, send(sender, body, id_="d-1"), branch="main")
        assert found is None or says(body, found), body


@pytest.mark.skipif(ABSENT, reason=REASON)
@pytest.mark.parametrize("entry", CORPUS, ids=NAMES)
def test_a_damaged_real_body_is_built_as_it_says_or_not_at_all(entry: Entry) -> None:
    check_all(entry, sample(damaged(entry.body), every=EVERY))


@pytest.mark.soak
@pytest.mark.timeout(600)
@pytest.mark.skipif(ABSENT, reason=REASON)
@pytest.mark.parametrize("entry", CORPUS, ids=NAMES)
def test_every_damaged_real_body_is_built_as_it_says_or_not_at_all(entry: Entry) -> None:
    check_all(entry, damaged(entry.body))


@pytest.mark.anyio
@pytest.mark.inv("H3")
@pytest.mark.parametrize("sender", list(Sender))
async def test_no_damaged_body_makes_the_service_fail(anvil: Platform, sender: Sender) -> None:
    slug, refused = await anvil.project(), 0
    for body in sample(damaged(raw(push(sender))), every=EVERY_OVER_HTTP):
        answer = await anvil.deliver(slug, send(sender, body, id_=anvil.fresh("d")), to=sender.route)
        # Some are accepted; when the queue is full of them that is 503.
        assert answer.status_code < 500 or answer.json()["code"] == "project_queue_full", body
        refused += answer.status_code == 400
    assert refused
    for row in await anvil.deliveries(slug):
        assert row.run_id is None or (row.branch, row.commit_sha) == ("main", SHA)
