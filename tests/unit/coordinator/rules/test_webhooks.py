"""A project's webhooks: created, switched, given a new secret."""

from dataclasses import replace

import pytest

from services.coordinator.records.project import Project, Sealed, Webhook
from services.coordinator.rules import webhooks
from services.kernel.errors import NotFound, WebhookChanged
from services.kernel.wire.webhooks import CreateWebhook, ReplaceSecret, SealedSecret, UpdateWebhook, WebhookConfig
from tests.unit.coordinator.builders import EARLIER, NOW, project, webhook

SECRET = SealedSecret(secret_id="s2", key_version="2", nonce="another", ciphertext="other")
SEALED = Sealed(secret_id="s2", key_version="2", nonce="another", ciphertext="other")
NEWER = CreateWebhook(version="v2", enabled=False, config=WebhookConfig(), secret=SECRET, actor="ada@example.com")
BARE = replace(project(), webhooks={})


def update(state: Project, version: str = "v2", enabled: bool | None = None) -> Project:
    asked = UpdateWebhook(version=version, enabled=enabled, config=WebhookConfig(), actor="ada@example.com")
    return webhooks.update(state, "github", asked)


def rotate(state: Project, version: str = "v2", if_version: str = "v1") -> Project:
    asked = ReplaceSecret(version=version, if_version=if_version, secret=SECRET, actor="ada@example.com")
    return webhooks.replace_secret(state, "github", asked, now=NOW)


def test_a_webhook_is_created_as_asked() -> None:
    created = webhooks.create(BARE, "github", NEWER, now=NOW)

    assert created.webhooks == {
        "github": Webhook(version="v2", enabled=False, config={}, secret=SEALED, rotated_at=NOW)
    }


def test_creating_it_again_changes_nothing() -> None:
    created = webhooks.create(BARE, "github", NEWER, now=NOW)

    assert webhooks.create(created, "github", NEWER, now=NOW) is created


def test_a_webhook_that_is_there_is_not_created_over() -> None:
    with pytest.raises(WebhookChanged):
        webhooks.create(project(), "github", NEWER, now=NOW)


def test_an_update_switches_the_webhook_if_it_says_so() -> None:
    updated = update(project(), enabled=False).webhooks["github"]

    assert (updated.enabled, updated.version) == (False, "v2")


@pytest.mark.parametrize("asked", [True, None])
def test_an_update_that_changes_nothing_is_no_new_version(asked: bool | None) -> None:
    before = project()

    assert update(before, enabled=asked) is before


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        (WebhookConfig(), {"instance_url": "https://code.example", "signing_token": True}),
        (WebhookConfig(signing_token=False), {"instance_url": "https://code.example", "signing_token": False}),
        (WebhookConfig(instance_url=None), {"signing_token": True}),
    ],
)
def test_an_update_changes_what_it_names_of_the_configuration(
    given: WebhookConfig, expected: dict[str, str | bool]
) -> None:
    config: dict[str, str | bool] = {"instance_url": "https://code.example", "signing_token": True}
    before = project().with_webhook("github", replace(webhook(), config=config))
    asked = UpdateWebhook(version="v2", config=given, actor="ada@example.com")

    assert webhooks.update(before, "github", asked).webhooks["github"].config == expected


@pytest.mark.req("R74")
def test_disabling_and_enabling_leaves_the_secret_as_it_was() -> None:
    disabled = update(project(), "v2", enabled=False)
    enabled = update(disabled, "v3", enabled=True)

    assert [state.webhooks["github"].secret for state in (disabled, enabled)] == [webhook().secret] * 2
    assert enabled.webhooks["github"].rotated_at == EARLIER


def test_an_update_that_was_applied_is_not_applied_again() -> None:
    updated = update(project(), enabled=False)

    assert update(updated, enabled=True) is updated


def test_a_new_secret_takes_the_place_of_the_old_one_at_once() -> None:
    rotated = rotate(project()).webhooks["github"]

    assert rotated == replace(webhook("v2"), secret=SEALED, rotated_at=NOW)


def test_of_two_rotations_of_one_version_the_second_is_refused() -> None:
    with pytest.raises(WebhookChanged):
        rotate(rotate(project(), version="v2"), version="v3")


def test_a_rotation_that_was_applied_is_not_applied_again() -> None:
    rotated = rotate(project())

    assert rotate(rotated) is rotated


def test_other_providers_webhooks_stay_as_they_are() -> None:
    changed = rotate(update(project(), "v2", enabled=False), "v3", if_version="v2")

    assert changed.webhooks["gitlab"] == webhook()
    assert set(changed.webhooks) == {"github", "gitlab", "gitea"}


def test_a_webhook_that_does_not_exist_cannot_be_changed() -> None:
    with pytest.raises(NotFound):
        update(BARE)
    with pytest.raises(NotFound):
        rotate(BARE)


def test_a_sealed_secret_is_not_written_out_with_its_webhook() -> None:
    assert "ciphertext" not in repr(webhook())
