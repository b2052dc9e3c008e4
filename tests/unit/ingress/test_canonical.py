"""One shape for the deliveries of all hosts."""

import pytest
from starlette.datastructures import Headers

from services.ingress.providers.port import Received
from services.ingress.providers.registry import GIT_HOSTS
from services.kernel.wire.deliveries import Canonical, EventKind, Provider
from tests.corpus.bodies import BEFORE, REPOSITORY, SHA, push, raw, repository
from tests.corpus.senders import JSON, Sender, send
from tests.unit.ingress.site import Site

PROVIDERS_OWN = {"provider", "flavor", "event_name", "delivery_id", "repository_urls", "body_sha256"}


def normalise(sender: Sender, body: object) -> Canonical:
    sent = send(sender, raw(body), id_="d-1")
    received = Received(headers=Headers(dict(sent.headers)), media_type=JSON, body=sent.body)
    host = GIT_HOSTS[sender.route]
    return host.normalise(received, delivery_id=host.delivery_id(received))


@pytest.mark.anyio
@pytest.mark.req("R55")
@pytest.mark.parametrize("sender", list(Sender))
async def test_what_decides_is_given_one_shape_whoever_sent_it(site: Site, sender: Sender) -> None:
    site.webhook(Provider(sender.route))
    sent = send(sender, raw(push(sender)), id_="d-1")
    await site.deliver(sent.body, sent.headers, provider=sender.route)
    [command] = site.coordinator.accepted
    assert command.canonical == normalise(sender, push(sender))
    assert command.model_dump(by_alias=False).keys() == {"canonical", "webhook_version", "run_id"}


@pytest.mark.req("R58")
def test_the_same_push_reads_the_same_from_every_host_but_for_what_only_that_host_says() -> None:
    read = [normalise(sender, push(sender)).model_dump(exclude=PROVIDERS_OWN, by_alias=False) for sender in Sender]
    assert read == [
        {
            "event_kind": EventKind.PUSH,
            "repository_url": REPOSITORY,
            "ref": "refs/heads/main",
            "branch": "main",
            "commit_sha": SHA,
            "before_sha": BEFORE,
            "skip_ci": False,
        }
    ] * len(Sender)


@pytest.mark.parametrize("sender", list(Sender))
@pytest.mark.parametrize(
    ("message", "skips"),
    [
        ("Fix a typo [skip ci]", True),
        ("[ci skip]\n\nOnly words", True),
        ("words\n\n[Skip CI]", True),
        ("skip ci", False),
        ("[skip  ci]", False),
        ("[skip-ci]", False),
        ("", False),
    ],
)
def test_a_commit_may_ask_for_no_run(sender: Sender, message: str, skips: bool) -> None:
    commit = {"id": SHA, "message": message}
    body = push(sender, commits=[{"id": BEFORE, "message": "[skip ci]"}, commit])
    body |= {} if "head_commit" not in body else {"head_commit": commit}
    assert normalise(sender, body).skip_ci is skips


@pytest.mark.parametrize("sender", list(Sender))
@pytest.mark.parametrize(
    "commits",
    [
        [],
        ["[skip ci]"],
        [{"id": BEFORE, "message": "[skip ci]"}],
        [{"id": SHA, "message": 7}],
        "[skip ci]",
        {"id": SHA},
    ],
)
def test_only_the_pushed_commit_itself_is_asked(sender: Sender, commits: object) -> None:
    body = push(sender, commits=commits, head_commit={"id": BEFORE, "message": "[skip ci]"})
    assert normalise(sender, body).skip_ci is False


@pytest.mark.parametrize("sender", list(Sender))
@pytest.mark.parametrize("before", ["0" * 40, "0" * 64, None])
def test_a_new_branch_has_no_commit_before(sender: Sender, before: str | None) -> None:
    found = normalise(sender, push(sender, before=before))
    assert (found.event_kind, found.before_sha) == (EventKind.PUSH, None)


@pytest.mark.parametrize("sender", list(Sender))
@pytest.mark.parametrize(
    "branch",
    ["release/100%25-%E2%9C%93", "ünïcødé-日本語-🚀", "Main", "a#b@c+d", "HEAD", "refs/heads/main", "refs/tags/v1"],
)
def test_a_branch_is_kept_letter_for_letter(sender: Sender, branch: str) -> None:
    assert normalise(sender, push(sender, ref=f"refs/heads/{branch}")).branch == branch


@pytest.mark.parametrize("sender", list(Sender))
@pytest.mark.parametrize(
    "ref", ["refs/pull/17/head", "refs/heads/", "refs/head/main", "main", "refs/heads/gh-readonly-queue/main/pr-1-abc"]
)
def test_what_is_no_branch_is_not_built(sender: Sender, ref: str) -> None:
    found = normalise(sender, push(sender, ref=ref))
    assert (found.event_kind, found.branch, found.commit_sha) == (EventKind.OTHER, None, None)


@pytest.mark.parametrize("sender", list(Sender))
def test_commits_of_sha_256_repositories_are_commits(sender: Sender) -> None:
    found = normalise(sender, push(sender, after="ab" * 32, before="cd" * 32))
    assert (found.commit_sha, found.before_sha) == ("ab" * 32, "cd" * 32)


@pytest.mark.threat("A59")
@pytest.mark.parametrize("sender", list(Sender))
def test_a_password_in_a_url_is_not_shown(sender: Sender) -> None:
    told = repository(sender, "https://bob:hunter2@git.example/team/app.git")
    assert normalise(sender, push(sender) | told).repository_url == "https://git.example/team/app.git"
