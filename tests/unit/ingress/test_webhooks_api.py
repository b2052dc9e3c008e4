"""Webhooks in the private API, and where secrets show."""

import re

import pytest

from services.kernel.errors import Ambiguous
from services.kernel.wire import internal
from services.kernel.wire.deliveries import Provider
from services.kernel.wire.webhooks import CreateWebhook, UpdateWebhook, Verification, WebhookConfig
from tests.unit.ingress.site import OPERATOR, VIEWER, Site

pytestmark = pytest.mark.anyio

PATH = "/projects/site/webhooks/github"
GIVEN = "a secret of one's own"


def stored_secret(site: Site) -> bytes | None:
    stored = site.coordinator.webhooks["site", "github"]
    found = Verification(
        project_id=site.coordinator.projects["site"].project_id,
        version=stored.version,
        enabled=stored.enabled,
        config=WebhookConfig(),
        secret=stored.secret,
    )
    return site.custody.secret(found, Provider.GITHUB)


@pytest.mark.req("R69")
async def test_a_webhook_is_created_with_the_given_secret_which_is_not_repeated(site: Site) -> None:
    answer = await site.call("PUT", PATH, json={"enabled": True, "secret": GIVEN}, by=OPERATOR)
    assert (answer.status_code, answer.json()["generatedSecret"]) == (201, None)
    assert GIVEN not in answer.text
    assert stored_secret(site) == GIVEN.encode()


@pytest.mark.req("R70")
@pytest.mark.req("R80")
@pytest.mark.inv("K2")
async def test_a_generated_secret_is_shown_in_the_answer_that_made_it_and_nowhere_else(site: Site) -> None:
    created = await site.call("PUT", PATH, json={"enabled": True})
    secret = created.json()["generatedSecret"]
    assert (created.status_code, created.headers["cache-control"]) == (201, "no-store")
    assert stored_secret(site) == secret.encode()
    later = [
        await site.call("PUT", PATH, json={"enabled": False}),
        await site.call("GET", "/projects/site/webhooks"),
        await site.call("GET", "/projects/site"),
    ]
    sealed = site.coordinator.webhooks["site", "github"].secret
    for text in (
        *(answer.text for answer in later),
        *(command.model_dump_json() for command in site.coordinator.commands),
    ):
        assert secret not in text
    for answer in later:
        assert sealed.ciphertext not in answer.text


@pytest.mark.req("R68")
async def test_creating_requires_enabled(site: Site) -> None:
    answer = await site.call("PUT", PATH, json={})
    assert (answer.status_code, answer.json()["code"]) == (400, "invalid_request")
    assert answer.json()["errors"] == [{"field": "enabled", "message": "required"}]
    assert site.coordinator.webhooks == {}


@pytest.mark.parametrize("secret", ["", "***", "fifteen bytes.."])
async def test_a_weak_secret_creates_nothing(site: Site, secret: str) -> None:
    answer = await site.call("PUT", PATH, json={"enabled": True, "secret": secret})
    assert (answer.status_code, answer.json()["code"]) == (400, "weak_secret")
    assert site.coordinator.webhooks == {}


@pytest.mark.req("R67")
@pytest.mark.req("R71")
async def test_an_update_disables_and_enables_and_keeps_the_secret(site: Site) -> None:
    await site.call("PUT", PATH, json={"enabled": True, "secret": GIVEN})
    off = await site.call("PUT", PATH, json={"enabled": False})
    on = await site.call("PUT", PATH, json={"enabled": True})
    assert [(answer.status_code, answer.json()["webhook"]["enabled"]) for answer in (off, on)] == [
        (200, False),
        (200, True),
    ]
    assert stored_secret(site) == GIVEN.encode()


@pytest.mark.req("R72")
async def test_an_update_configures_what_it_names_and_keeps_the_secret(site: Site) -> None:
    path, config = "/projects/site/webhooks/gitlab", {"instanceUrl": "https://code.example/gitlab"}
    made = await site.call("PUT", path, json={"enabled": True, "config": {"signingToken": True}})
    secret = site.coordinator.webhooks["site", "gitlab"].secret
    answer = await site.call("PUT", path, json={"config": config})
    [_, command] = [
        command for command in site.coordinator.commands if isinstance(command, CreateWebhook | UpdateWebhook)
    ]
    assert (made.status_code, answer.status_code) == (201, 200)
    assert isinstance(command, UpdateWebhook)
    assert command.config is not None
    assert command.config.model_dump(exclude_unset=True, by_alias=True) == config
    assert site.coordinator.webhooks["site", "gitlab"].secret == secret


async def test_a_signing_token_is_made_in_its_own_form_and_rotated_into_another(site: Site) -> None:
    path = "/projects/site/webhooks/gitlab"
    made = await site.call("PUT", path, json={"enabled": True, "config": {"signingToken": True}})
    version = made.json()["webhook"]["version"]
    rotated = await site.call("POST", f"{path}/rotate-secret", json={"confirm": True, "version": version})
    tokens = [made.json()["generatedSecret"], rotated.json()["secret"]]
    assert [re.fullmatch(r"whsec_[A-Za-z0-9+/]{43}=", token) is not None for token in tokens] == [True, True]
    assert tokens[0] != tokens[1]


async def test_a_secret_that_is_no_signing_token_creates_no_webhook_that_needs_one(site: Site) -> None:
    asked = {"enabled": True, "secret": GIVEN, "config": {"signingToken": True}}
    answer = await site.call("PUT", "/projects/site/webhooks/gitlab", json=asked)
    assert (answer.status_code, answer.json()["code"]) == (400, "invalid_request")
    assert answer.json()["errors"][0]["field"] == "secret"
    assert "whsec_" in answer.json()["detail"]
    assert site.coordinator.webhooks == {}


async def test_signatures_are_not_turned_on_over_a_secret_that_could_sign_nothing(site: Site) -> None:
    site.webhook(Provider.GITLAB)
    answer = await site.call("PUT", "/projects/site/webhooks/gitlab", json={"config": {"signingToken": True}})
    assert (answer.status_code, answer.json()["errors"][0]["field"]) == (400, "config.signingToken")
    assert site.coordinator.webhooks["site", "gitlab"].config == WebhookConfig()


@pytest.mark.parametrize("provider", ["github", "gitea"])
async def test_only_gitlab_has_a_signing_token(site: Site, provider: str) -> None:
    asked = {"enabled": True, "config": {"signingToken": True}}
    answer = await site.call("PUT", f"/projects/site/webhooks/{provider}", json=asked)
    assert (answer.status_code, answer.json()["errors"][0]["field"]) == (400, "config.signingToken")


@pytest.mark.parametrize(
    "url",
    [
        "http://code.example",
        "https://",
        "https://ada@code.example",
        "https://code.example/?x",
        "javascript:alert(1)",
        "x",
    ],
)
async def test_an_instance_is_an_https_url_of_a_host_and_perhaps_a_path(site: Site, url: str) -> None:
    asked = {"enabled": True, "config": {"instanceUrl": url}}
    answer = await site.call("PUT", "/projects/site/webhooks/gitea", json=asked)
    assert (answer.status_code, answer.json()["errors"][0]["field"]) == (400, "config.instanceUrl")


@pytest.mark.req("R73")
@pytest.mark.inv("K3")
@pytest.mark.parametrize("secret", [None, "", GIVEN, "another secret of one's own"])
async def test_an_update_with_a_secret_in_any_form_is_refused_and_changes_nothing(
    site: Site, secret: str | None
) -> None:
    await site.call("PUT", PATH, json={"enabled": True, "secret": GIVEN})
    version = site.coordinator.webhooks["site", "github"].version
    answer = await site.call("PUT", PATH, json={"enabled": False, "secret": secret})
    stored = site.coordinator.webhooks["site", "github"]
    assert (answer.status_code, answer.json()["code"]) == (400, "secret_not_allowed")
    assert (stored.enabled, stored.version, stored_secret(site)) == (True, version, GIVEN.encode())


@pytest.mark.req("R76")
async def test_a_rotation_shows_the_new_secret_once_and_only_the_new_one_is_stored(site: Site) -> None:
    site.webhook(version="v1")
    answer = await site.call("POST", f"{PATH}/rotate-secret", json={"confirm": True, "version": "v1"})
    assert (answer.status_code, answer.headers["cache-control"]) == (200, "no-store")
    assert list(answer.json()) == ["secret"]
    assert stored_secret(site) == answer.json()["secret"].encode()


@pytest.mark.parametrize("body", [{"version": "v1"}, {"version": "v1", "confirm": False}])
async def test_a_rotation_needs_to_be_confirmed(site: Site, body: dict[str, object]) -> None:
    site.webhook(version="v1")
    answer = await site.call("POST", f"{PATH}/rotate-secret", json=body)
    assert (answer.status_code, answer.json()["code"]) == (400, "confirmation_required")
    assert site.coordinator.webhooks["site", "github"].version == "v1"


async def test_of_two_rotations_of_one_version_the_second_is_refused(site: Site) -> None:
    site.webhook(version="v1")
    body = {"confirm": True, "version": "v1"}
    first = await site.call("POST", f"{PATH}/rotate-secret", json=body)
    second = await site.call("POST", f"{PATH}/rotate-secret", json=body)
    assert (first.status_code, second.status_code, second.json()["code"]) == (200, 409, "webhook_changed")
    assert stored_secret(site) == first.json()["secret"].encode()


async def test_a_rotation_whose_answer_was_lost_is_not_asked_for_again(site: Site) -> None:
    site.webhook(version="v1")
    site.coordinator.fail(internal.REPLACE_SECRET, Ambiguous())
    answer = await site.call("POST", f"{PATH}/rotate-secret", json={"confirm": True, "version": "v1"})
    assert (answer.status_code, site.coordinator.called.count(internal.REPLACE_SECRET.path)) == (503, 1)
    assert "secret" not in answer.json()


async def test_a_deleted_webhook_is_gone(site: Site) -> None:
    site.webhook()
    assert (await site.call("DELETE", PATH)).status_code == 204
    assert site.coordinator.webhooks == {}


@pytest.mark.parametrize(("method", "path"), [("PUT", ""), ("POST", "/rotate-secret"), ("DELETE", "")])
async def test_only_hosts_that_are_served_have_webhooks(site: Site, method: str, path: str) -> None:
    body = None if method == "DELETE" else {"version": "v1", "confirm": True} if path else {"enabled": True}
    answer = await site.call(method, f"/projects/site/webhooks/bitbucket{path}", json=body)
    assert (answer.status_code, site.coordinator.called) == (404, [])


async def test_a_viewer_changes_no_webhook(site: Site) -> None:
    site.webhook()
    for method, path, body in [
        ("PUT", PATH, {"enabled": False}),
        ("POST", f"{PATH}/rotate-secret", {"confirm": True, "version": "v1"}),
        ("DELETE", PATH, None),
    ]:
        assert (await site.call(method, path, json=body, by=VIEWER)).status_code == 403
    assert site.coordinator.called == []
