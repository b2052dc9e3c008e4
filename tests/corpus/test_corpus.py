"""Every real delivery at hand, signed and sent: it is recorded as what it means."""

import pytest

from services.kernel.wire.deliveries import EventKind
from tests.corpus.bodies import REPOSITORY
from tests.corpus.entries import ABSENT, REASON, Entry, entries
from tests.corpus.platform import Platform
from tests.corpus.senders import SECRET

pytestmark = [pytest.mark.anyio, pytest.mark.skipif(ABSENT, reason=REASON)]

CORPUS = list(entries())
INVALID = "invalid_payload(400)"
KINDS = {
    "push": EventKind.PUSH,
    "tag_push": EventKind.TAG,
    "tag_delete": EventKind.DELETION,
    "branch_delete": EventKind.DELETION,
    "ref_create": EventKind.OTHER,
    "ref_delete": EventKind.OTHER,
    "other_ref": EventKind.OTHER,
    "other": EventKind.OTHER,
    "ping": EventKind.PING,
    "test_delivery": EventKind.PING,
}


@pytest.mark.parametrize("entry", CORPUS, ids=[entry.name for entry in CORPUS])
async def test_a_real_delivery_becomes_what_it_means(anvil: Platform, entry: Entry) -> None:
    wanted, id_ = entry.expected, anvil.fresh("d")
    slug = await anvil.project(repository_url=entry.repository_url or REPOSITORY, branch=entry.tracked)
    answer = await anvil.deliver(slug, entry.sent(id_=id_, secret=SECRET), to=entry.sender.route)
    recorded = await anvil.deliveries(slug)
    if entry.result == INVALID:
        assert (answer.status_code, answer.json()["code"], recorded) == (400, "invalid_payload", ())
        return
    [row] = recorded
    assert answer.status_code == (202 if entry.result == "accepted" else 200)
    assert (row.outcome, row.delivery_id, row.flavor) == (entry.result, id_, entry.sender.value)
    assert (row.event_name, row.event_kind) == (entry.event, KINDS[str(wanted["kind"])])
    assert (row.ref, row.branch) == (wanted["ref"], wanted["branch"])
    assert (row.commit_sha, row.before_sha) == (wanted["commitSha"], wanted["beforeSha"])
    assert "repositoryUrl" not in wanted or row.repository_url == wanted["repositoryUrl"]


@pytest.mark.parametrize(
    "entry",
    [entry for entry in CORPUS if entry.result == "ignored_branch"],
    ids=[entry.name for entry in CORPUS if entry.result == "ignored_branch"],
)
async def test_a_push_to_another_branch_is_accepted_where_that_is_the_one_followed(
    anvil: Platform, entry: Entry
) -> None:
    slug = await anvil.project(repository_url=entry.repository_url or REPOSITORY, branch=str(entry.expected["branch"]))
    answer = await anvil.deliver(slug, entry.sent(id_=anvil.fresh("d"), secret=SECRET), to=entry.sender.route)
    [row] = await anvil.deliveries(slug)
    assert (answer.status_code, row.commit_sha) == (202, entry.expected["commitSha"])
