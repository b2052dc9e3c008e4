"""`anvil webhook` and `anvil delivery`."""

import json

import pytest

from services.kernel.errors import AnvilError, WebhookChanged
from services.kernel.wire import api
from services.kernel.wire.deliveries import DeliveryQuery, Outcome, Provider
from services.kernel.wire.projects import NewProject
from services.kernel.wire.webhooks import PutWebhook, Refusal, RotateSecret, WebhookCheck, WebhookConfig
from tests.unit.cli.conftest import Anvil
from tests.unit.cli.ingress import DELIVERY, Ingress, a_project, a_webhook

pytestmark = pytest.mark.anyio


@pytest.fixture(autouse=True)
def hello(ingress: Ingress) -> None:
    """The project that all of this is about."""
    new = NewProject(slug="hello", name="Hello", repository_url="https://git.example/octo/hello.git")
    ingress.projects["hello"] = a_project(new)


async def test_a_new_webhook_is_enabled_and_says_what_the_provider_needs(anvil: Anvil, ingress: Ingress) -> None:
    result = await anvil("webhook", "put", "github")
    assert ingress.of(api.PUT_WEBHOOK) == [PutWebhook(enabled=True)]
    assert [line.split(maxsplit=2) for line in result.out.splitlines()] == [
        ["provider", "github"],
        ["enabled", "yes"],
        ["form", "https://git.example/octo/hello/settings/hooks/new"],
        ["payload", "url", f"{ingress.endpoint}/api/public/hooks/github/hello"],
        ["content", "type", "application/json"],
        ["events", "just", "the push event"],
        ["secret", "field", "Secret"],
        ["secret", "generated-secret-0001"],
    ]
    assert result.err == "the secret is shown this once\n"


async def test_a_signing_token_is_asked_for_and_goes_to_a_field_of_its_own(anvil: Anvil, ingress: Ingress) -> None:
    result = await anvil(
        "webhook",
        "put",
        "gitlab",
        "--signing-token",
        "--instance-url",
        "https://code.example/gitlab",
        "--format",
        "json",
    )
    config = WebhookConfig(signing_token=True, instance_url="https://code.example/gitlab")
    assert ingress.of(api.PUT_WEBHOOK) == [PutWebhook(enabled=True, config=config)]
    assert json.loads(result.out)["data"]["setup"] == {
        "form": "https://code.example/gitlab/octo/hello/-/hooks",
        "payloadUrl": f"{ingress.endpoint}/api/public/hooks/gitlab/hello",
        "contentType": "JSON, which is all that GitLab sends",
        "events": "Push events",
        "secretField": "Signing token, with the secret token left empty",
    }


async def test_an_instance_that_is_no_https_url_is_refused_unsent(anvil: Anvil, ingress: Ingress) -> None:
    result = await anvil("webhook", "put", "gitea", "--instance-url", "http://git.example")
    assert (result.code, ingress.of(api.PUT_WEBHOOK)) == (2, [])


async def test_a_webhook_that_works_is_told_by_a_tick_for_each_check(anvil: Anvil, ingress: Ingress) -> None:
    result = await anvil("webhook", "test", "github")
    assert (result.code, result.out) == (0, "✓ reachable: https://ci.example\n")


async def test_a_webhook_that_does_not_work_ends_with_1_and_what_to_do(anvil: Anvil, ingress: Ingress) -> None:
    ingress.finds = WebhookCheck(name="signature", passed=False, finding="refused")
    result = await anvil("webhook", "test", "github")
    assert (result.code, result.out) == (1, "✗ signature: refused\n")


async def test_refusals_are_listed_with_the_most_frequent_first(anvil: Anvil, ingress: Ingress) -> None:
    refused = {Refusal.DISABLED: 1, Refusal.BAD_SIGNATURE: 12}
    ingress.webhooks[Provider.GITHUB] = a_webhook(Provider.GITHUB).model_copy(update={"refused": refused})
    assert "12 bad_signature, 1 disabled" in (await anvil("webhook", "list")).out


async def test_disabling_a_webhook_changes_nothing_else(anvil: Anvil, ingress: Ingress) -> None:
    ingress.webhooks[Provider.GITEA] = a_webhook(Provider.GITEA)
    result = await anvil("webhook", "put", "gitea", "--disabled", "--format", "json")
    assert json.loads(result.out)["data"]["webhook"]["enabled"] is False
    [asked] = ingress.of(api.PUT_WEBHOOK)
    assert isinstance(asked, PutWebhook)
    assert asked.model_fields_set == {"enabled"}


async def test_a_secret_comes_from_standard_input_or_a_file_without_its_line_end(
    anvil: Anvil, ingress: Ingress
) -> None:
    (anvil.working / "secret").write_text(" sixteen bytes or more\r\n")
    await anvil("webhook", "put", "github", "--secret", "-", stdin="sixteen-bytes-or-more\n")
    await anvil("webhook", "put", "gitlab", "--secret-file", "secret")
    assert ingress.of(api.PUT_WEBHOOK) == [
        PutWebhook(enabled=True, secret="sixteen-bytes-or-more"),
        PutWebhook(enabled=True, secret=" sixteen bytes or more"),
    ]


async def test_a_secret_on_the_command_line_is_refused_unsent(anvil: Anvil, ingress: Ingress) -> None:
    result = await anvil("webhook", "put", "github", "--secret", "hunter2-hunter2-hunter2")
    assert result.code == 2
    assert "hunter2" not in result.err
    assert ingress.asked == []


async def test_a_rotation_names_the_version_it_saw_and_shows_the_secret_alone(anvil: Anvil, ingress: Ingress) -> None:
    ingress.webhooks[Provider.GITHUB] = a_webhook(Provider.GITHUB)
    result = await anvil("webhook", "rotate-secret", "github", "--yes")
    assert (result.code, result.out) == (0, "rotated-secret-00002\n")
    assert ingress.of(api.ROTATE_SECRET) == [RotateSecret(confirm=True, version="v1")]


async def test_a_rotation_of_a_webhook_that_changed_meanwhile_is_stale(anvil: Anvil, ingress: Ingress) -> None:
    ingress.webhooks[Provider.GITHUB] = a_webhook(Provider.GITHUB)
    ingress.errors[api.ROTATE_SECRET.summary] = WebhookChanged()
    assert (await anvil("webhook", "rotate-secret", "github", "--yes")).code == 7


async def test_a_rotation_whose_answer_got_lost_is_not_tried_again(anvil: Anvil, ingress: Ingress) -> None:
    ingress.webhooks[Provider.GITHUB] = a_webhook(Provider.GITHUB)
    ingress.errors[api.ROTATE_SECRET.summary] = AnvilError("boom")
    result = await anvil("webhook", "rotate-secret", "github", "--yes")
    assert result.code == 8
    assert "rotatedAt" in result.err
    assert len(ingress.of(api.ROTATE_SECRET)) == 1


async def test_nothing_is_rotated_without_consent(anvil: Anvil, ingress: Ingress) -> None:
    ingress.webhooks[Provider.GITHUB] = a_webhook(Provider.GITHUB)
    assert (await anvil("webhook", "rotate-secret", "github")).code == 2
    assert ingress.of(api.ROTATE_SECRET) == []


async def test_a_webhook_that_is_not_there_cannot_be_rotated(anvil: Anvil) -> None:
    result = await anvil("webhook", "rotate-secret", "gitlab", "--yes")
    assert (result.code, result.err) == (6, "anvil: hello has no gitlab webhook\n")


async def test_deliveries_are_filtered_by_the_server(anvil: Anvil, ingress: Ingress) -> None:
    result = await anvil("delivery", "list", "--outcome", "accepted", "--since", "2026-11-30T09:00:00Z", "--limit", "5")
    assert result.code == 0
    assert result.out.splitlines()[1].split()[:4] == [DELIVERY, "github", "push", "main"]
    [query] = ingress.of(api.LIST_DELIVERIES)
    assert isinstance(query, DeliveryQuery)
    assert (query.outcome, query.branch, query.page_size) == (Outcome.ACCEPTED, None, 5)
    assert query.since is not None
    assert query.since.isoformat() == "2026-11-30T09:00:00+00:00"


async def test_one_delivery_is_shown_whole(anvil: Anvil) -> None:
    result = await anvil("delivery", "show", DELIVERY, "--format", "yaml")
    assert result.out.startswith(f"data:\n  id: {DELIVERY}\n  deliveryId: 7b6d\n  provider: github\n")
