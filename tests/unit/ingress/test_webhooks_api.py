"""Webhooks in the private API, and where secrets show."""

import pytest

from services.kernel.errors import Ambiguous
from services.kernel.wire import internal
from services.kernel.wire.deliveries import Provider
from services.kernel.wire.webhooks import Verification, WebhookConfig
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
