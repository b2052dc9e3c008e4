"""What others reported of their services, each as the outcome that it has here."""

from collections.abc import Callable

import pytest
from starlette.types import Message

from services.kernel.wire.deliveries import EventKind, Outcome
from tests.corpus.bodies import BEFORE, REPOSITORY, SHA, ZERO, push, raw, repository
from tests.corpus.platform import Platform
from tests.corpus.senders import FORM, SECRET, Sender, Sent, form, send

pytestmark = pytest.mark.anyio

FAMILY = [Sender.GITEA, Sender.FORGEJO, Sender.GOGS]


async def outcome(
    anvil: Platform, sender: Sender, body: object, *, event: str | None = None, branch: str = "main"
) -> tuple[int, str, str | None]:
    """Deliver to a new project that follows `branch`: the status, what was recorded, and the commit that is run."""
    slug = await anvil.project(branch=branch)
    answer = await anvil.deliver(slug, send(sender, raw(body), id_="d-1", event=event), to=sender.route)
    [row] = await anvil.deliveries(slug)
    assert (row.run_id is None) is (row.outcome is not Outcome.ACCEPTED)
    return answer.status_code, row.outcome.value, row.commit_sha if row.run_id else None


async def test_a_branch_deleted_on_gitlab_builds_no_commit_of_zeros(anvil: Platform) -> None:
    """harness/harness#335"""
    body = push(Sender.GITLAB, after=ZERO, checkout_sha=None, commits=[])
    assert await outcome(anvil, Sender.GITLAB, body) == (200, "ignored_event", None)


async def test_a_branch_deleted_on_github_builds_nothing_by_its_flag_alone(anvil: Platform) -> None:
    """readthedocs/readthedocs.org#6464"""
    assert await outcome(anvil, Sender.GITHUB, push(Sender.GITHUB, deleted=True)) == (200, "ignored_event", None)


@pytest.mark.parametrize("zero", [ZERO, "0" * 64])
async def test_a_null_commit_is_never_deployed(anvil: Platform, zero: str) -> None:
    """gotempsh/temps#121"""
    body = push(Sender.GITHUB, after=zero, head_commit=None)
    assert await outcome(anvil, Sender.GITHUB, body) == (200, "ignored_event", None)


@pytest.mark.parametrize("sender", [Sender.GITLAB, Sender.GITEA, Sender.GOGS])
async def test_a_deletion_needs_no_flag(anvil: Platform, sender: Sender) -> None:
    """voxpupuli/puppet-r10k#377"""
    slug = await anvil.project()
    body = push(sender, ref="refs/tags/v1", after=ZERO, checkout_sha=None)
    await anvil.deliver(slug, send(sender, raw({**body, "object_kind": "push"}), id_="d-1"), to=sender.route)
    [row] = await anvil.deliveries(slug)
    assert (row.event_kind, row.commit_sha, row.before_sha) == (EventKind.DELETION, None, BEFORE)


async def test_a_new_branch_without_a_checkout_sha_is_built(anvil: Platform) -> None:
    """jenkinsci/gitlab-plugin#126"""
    body = push(Sender.GITLAB, before=ZERO, checkout_sha=None)
    assert await outcome(anvil, Sender.GITLAB, body) == (202, "accepted", SHA)


@pytest.mark.parametrize("sender", list(Sender))
@pytest.mark.parametrize(
    ("branch", "found"), [("feature/x", "accepted"), ("x", "ignored_branch"), ("feature", "ignored_branch")]
)
async def test_a_branch_with_slashes_is_its_whole_name(
    anvil: Platform, sender: Sender, branch: str, found: str
) -> None:
    """voxpupuli/webhook-go#163, puppet-r10k#108, typhon#13, atlantis#835, judges-action#1623"""
    body = push(sender, ref="refs/heads/feature/x")
    assert (await outcome(anvil, sender, body, branch=branch))[1] == found


async def test_gitea_is_not_taken_for_github_by_the_headers_that_it_also_sends(anvil: Platform) -> None:
    """go-gitea/gitea#1196, REBELinBLUE/deployer#334"""
    slug = await anvil.project()
    sent = send(Sender.GITEA, raw(push(Sender.GITEA)), id_="d-1").but(X_GitHub_Event="ping", X_GitHub_Delivery="d-2")
    assert (await anvil.deliver(slug, sent, to="github")).status_code == 401
    assert (await anvil.deliver(slug, sent, to="gitea")).status_code == 202
    [row] = await anvil.deliveries(slug)
    assert (row.flavor, row.event_name, row.delivery_id) == ("gitea", "push", "d-1")


@pytest.mark.parametrize(
    "body",
    [
        raw(push(Sender.GITHUB, commits=[{"id": SHA, "message": "Grüße 🚀 日本"}])),
        raw(push(Sender.GITHUB)).replace(b'", "', b'" ,\n\t"') + b"\n",
        raw(push(Sender.GITHUB)).replace(b"main", b"ma\\u0069n"),
    ],
)
async def test_a_signature_is_over_the_bytes_whatever_is_written_in_them(anvil: Platform, body: bytes) -> None:
    """octokit/webhooks.js#71, #1155, github/docs#3567, mapbox/ecs-conex#64"""
    slug = await anvil.project()
    assert (await anvil.deliver(slug, send(Sender.GITHUB, body, id_="d-1"), to="github")).status_code == 202


@pytest.mark.parametrize("sender", [Sender.GITHUB, *FAMILY])
async def test_a_form_is_verified_as_it_came_and_read(anvil: Platform, sender: Sender) -> None:
    """octokit/webhooks.js#158, getstackit/stackit#1328, jenkinsci/github-plugin#134"""
    slug = await anvil.project(branch="ü+b&c")
    body = form(raw(push(sender, ref="refs/heads/ü+b&c"))).replace(b"%20", b"+")
    answer = await anvil.deliver(slug, send(sender, body, id_="d-1", media_type=FORM), to=sender.route)
    assert (answer.status_code, (await anvil.deliveries(slug))[0].branch) == (202, "ü+b&c")


async def test_one_github_id_from_two_hooks_is_two_deliveries(anvil: Platform) -> None:
    """github/docs#32822"""
    sent = send(Sender.GITHUB, raw(push(Sender.GITHUB)), id_="72d3162e-cc78-11e3-81ab-4c9367dc0958")
    answers = [await anvil.deliver(await anvil.project(), sent, to="github") for _ in range(2)]
    assert [answer.status_code for answer in answers] == [202, 202]


async def test_a_redelivery_is_not_swallowed_but_says_how_to_run_again(anvil: Platform) -> None:
    """probot/smee-client#72"""
    slug, sent = await anvil.project(), send(Sender.GITHUB, raw(push(Sender.GITHUB)), id_="d-1")
    first = (await anvil.deliver(slug, sent, to="github")).json()
    again = await anvil.deliver(slug, sent, to="github")
    assert (again.status_code, again.json()["duplicate"], again.json()["runId"]) == (200, True, first["runId"])
    assert f"`anvil run rerun {first['runId']}`" in again.json()["hint"]


@pytest.mark.parametrize("sender", list(Sender))
async def test_a_replay_is_not_processed_twice(anvil: Platform, sender: Sender) -> None:
    """devops-thiago/ThrillhouseBot#80, gitmesh#412"""
    slug, sent = await anvil.project(), send(sender, raw(push(sender)), id_="d-1")
    runs = {(await anvil.deliver(slug, sent, to=sender.route)).json()["runId"] for _ in range(3)}
    assert (len(runs), len(await anvil.deliveries(slug))) == (1, 1)


async def test_a_new_branch_without_commits_is_no_bad_payload(anvil: Platform) -> None:
    """tektoncd/pipelines-as-code#2874, bitrise-webhooks#182, lagoon#2983"""
    body = push(Sender.GITLAB, before=ZERO, commits=[], total_commits_count=0)
    assert await outcome(anvil, Sender.GITLAB, body) == (202, "accepted", SHA)


@pytest.mark.parametrize("sender", FAMILY)
@pytest.mark.parametrize("commit", [ZERO, SHA])
async def test_a_test_delivery_is_a_ping_whichever_commit_it_names(
    anvil: Platform, sender: Sender, commit: str
) -> None:
    """wavelens/gradient#428, buildbot-gitea#24, lab-instructions#139, go-gitea/gitea#37055"""
    fake = {"id": commit, "message": "This is a fake commit"}
    body = push(sender, before=commit, after=commit, commits=[fake], head_commit=fake)
    assert await outcome(anvil, sender, body) == (200, "ignored_ping", None)


@pytest.mark.parametrize("sender", list(Sender))
async def test_a_tag_is_no_branch_of_that_name(anvil: Platform, sender: Sender) -> None:
    """sprucedev/DockCI#308, openci-org/openci#1150"""
    event, changed = ("Tag Push Hook", {"object_kind": "tag_push"}) if sender is Sender.GITLAB else (None, {})
    body = push(sender, ref="refs/tags/v1", **changed)
    assert await outcome(anvil, sender, body, event=event, branch="refs/tags/v1") == (200, "ignored_event", None)


async def test_a_tag_that_gets_past_the_hosts_branch_filter_is_not_built(anvil: Platform) -> None:
    """go-gitea/gitea#35449"""
    body = push(Sender.GITEA, ref="refs/tags/main")
    assert await outcome(anvil, Sender.GITEA, body) == (200, "ignored_event", None)


@pytest.mark.parametrize(
    "about", [repository(Sender.GITHUB), {"organization": {"login": "octo"}}, {"hook": {"type": "App"}}]
)
async def test_a_ping_is_answered_with_success(anvil: Platform, about: dict[str, object]) -> None:
    """phayes/hookserve#4, influxdata/telegraf#2473, source-integration#382, puppet-r10k#89"""
    ping = {"zen": "Design for failure.", "hook_id": 1, **about}
    assert await outcome(anvil, Sender.GITHUB, ping, event="ping") == (200, "ignored_ping", None)


@pytest.mark.parametrize("sender", list(Sender))
async def test_a_large_push_is_taken(anvil: Platform, sender: Sender) -> None:
    """backstage/backstage#28910, caprover/caprover#1393"""
    commits = [{"id": SHA, "message": "x" * 1000, "added": ["a" * 100] * 10}] * 2000
    assert (await outcome(anvil, sender, push(sender, commits=commits)))[0] == 202


async def test_a_body_that_is_too_large_is_refused_before_a_byte_of_it_is_read(anvil: Platform) -> None:
    """golang/vulndb#3002, #5462"""
    headers = [(b"content-type", b"application/json"), (b"content-length", b"60000000")]
    path = "/api/public/hooks/gitlab/anybody"
    scope = {"type": "http", "method": "POST", "path": path, "query_string": b"", "headers": headers}
    sent: list[Message] = []

    async def receive() -> Message:
        raise AssertionError("the body was asked for")

    async def answer(message: Message) -> None:
        sent.append(message)

    await anvil.app(scope, receive, answer)
    assert sent[0]["status"] == 413


@pytest.mark.parametrize("sender", list(Sender))
@pytest.mark.parametrize("body", [b"", b"{", b"null", b'{"ref": {}}', b"\xff\xfe", b"[" * 9000])
async def test_a_malformed_body_is_401_to_strangers_and_400_to_the_secrets_holder(
    anvil: Platform, sender: Sender, body: bytes
) -> None:
    """golang/vulndb#3995, #3993, #3996"""
    slug = await anvil.project()
    stranger = send(sender, body, id_="d-1", secret="a secret of somebody else")
    assert (await anvil.deliver(slug, send(sender, body, id_="d-1"), to=sender.route)).status_code == 400
    assert (await anvil.deliver(slug, stranger, to=sender.route)).status_code == 401


@pytest.mark.parametrize(
    ("token", "status"), [(SECRET, 202), (SECRET[:-1], 401), (SECRET + "x", 401), (SECRET.upper(), 401), ("", 401)]
)
async def test_the_whole_gitlab_token_is_compared_and_the_right_way_round(
    anvil: Platform, token: str, status: int
) -> None:
    """runatlantis/atlantis#2391, mindersec/minder#6772, sourcegraph-public-snapshot#57650"""
    slug, body = await anvil.project(), raw(push(Sender.GITLAB))
    answer = await anvil.deliver(slug, send(Sender.GITLAB, body, id_="d-1", secret=token), to="gitlab")
    assert answer.status_code == status


@pytest.mark.parametrize(
    ("url", "status"),
    [
        (REPOSITORY, 202),
        ("https://code.example/octo/hello", 202),
        ("https://CODE.example:443/octo/hello.git/", 202),
        ("ssh://git@code.example:22/octo/hello.git", 202),
        ("git@code.example:octo/hello.git", 202),
        ("ssh://git@code.example:2222/octo/hello.git", 403),
        ("https://code.example/octo/hello-world.git", 403),
        ("https://code.example/octo/hell", 403),
        ("https://code.example/Octo/hello", 403),
        ("https://code.example.evil.example/octo/hello.git", 403),
    ],
)
async def test_a_repository_is_known_by_any_spelling_of_its_url_and_by_no_other(
    anvil: Platform, url: str, status: int
) -> None:
    """coollabsio/coolify#11760, akuity/kargo#5418, readthedocs.org#754, repowise#1440, WeblateOrg/weblate#8977"""
    slug, body = await anvil.project(), raw(push(Sender.GITHUB, repository={"clone_url": url}))
    assert (await anvil.deliver(slug, send(Sender.GITHUB, body, id_="d-1"), to="github")).status_code == status


@pytest.mark.parametrize("sender", list(Sender))
@pytest.mark.parametrize("spell", [str.lower, str.upper])
async def test_header_names_count_in_any_case(anvil: Platform, sender: Sender, spell: Callable[[str], str]) -> None:
    """probot/adapter-aws-lambda-serverless#62, go-gitea/gitea#3304"""
    slug, sent = await anvil.project(), send(sender, raw(push(sender)), id_="d-1")
    spelt = Sent(headers={spell(name): value for name, value in sent.headers.items()}, body=sent.body)
    assert (await anvil.deliver(slug, spelt, to=sender.route)).status_code == 202


@pytest.mark.parametrize("signature", [None, "v1,bm90IGEgc2lnbmF0dXJl"])
async def test_a_new_gitlab_with_an_old_token_is_known_by_the_token(anvil: Platform, signature: str | None) -> None:
    """NousResearch/hermes-agent#104183"""
    slug = await anvil.project()
    old = send(Sender.GITLAB, raw(push(Sender.GITLAB)), id_="d-1")
    sent = old.but(webhook_id="d-1", webhook_timestamp="1780000000", webhook_signature=signature)
    assert (await anvil.deliver(slug, sent, to="gitlab")).status_code == 202


@pytest.mark.parametrize(("branch", "found"), [("main", "accepted"), ("trunk", "ignored_branch")])
async def test_a_new_branch_without_commits_is_built_exactly_if_it_is_the_followed_one(
    anvil: Platform, branch: str, found: str
) -> None:
    """jenkinsci/gitlab-plugin#844"""
    body = push(Sender.GITLAB, before=ZERO, commits=[], total_commits_count=0)
    assert (await outcome(anvil, Sender.GITLAB, body, branch=branch))[1] == found
