"""A webhook tried out: a sample through the public URL, and what each check finds."""

import httpx2
import pytest

from services.kernel.wire.deliveries import Provider
from services.kernel.wire.webhooks import WebhookConfig
from tests.corpus.platform import Platform
from tests.corpus.senders import SECRET, SIGNING_TOKEN

pytestmark = pytest.mark.anyio


async def tried(anvil: Platform, slug: str, provider: Provider) -> httpx2.Response:
    return await anvil.call("POST", f"/projects/{slug}/webhooks/{provider}/test", json={})


@pytest.mark.parametrize(
    ("provider", "config", "secret", "outcome"),
    [
        (Provider.GITHUB, WebhookConfig(), SECRET, "ignored_ping"),
        (Provider.GITEA, WebhookConfig(), SECRET, "ignored_ping"),
        (Provider.GITLAB, WebhookConfig(), SECRET, "ignored_event"),
        (Provider.GITLAB, WebhookConfig(signing_token=True), SIGNING_TOKEN, "ignored_event"),
    ],
)
async def test_a_webhook_that_works_passes_every_check_and_starts_nothing(
    anvil: Platform, provider: Provider, config: WebhookConfig, secret: str, outcome: str
) -> None:
    slug = await anvil.project(config=config, secret=secret)
    answer = await tried(anvil, slug, provider)
    assert answer.json() == {
        "passed": True,
        "checks": [
            {"name": "enabled", "passed": True, "finding": "deliveries are taken"},
            {"name": "secret", "passed": True, "finding": "it opens"},
            {"name": "reachable", "passed": True, "finding": f"{anvil.url}/api/public/hooks/{provider}/{slug}"},
            {"name": "signature", "passed": True, "finding": "accepted"},
            {"name": "repository", "passed": True, "finding": "https://code.example/octo/hello.git matches"},
            {"name": "recorded", "passed": True, "finding": f"as {outcome}"},
        ],
    }
    [row] = await anvil.deliveries(slug)
    assert (row.outcome, row.run_id) == (outcome, None)


async def test_a_second_try_is_a_delivery_of_its_own(anvil: Platform) -> None:
    slug = await anvil.project()
    answers = [await tried(anvil, slug, Provider.GITHUB) for _ in range(2)]
    assert [answer.json()["passed"] for answer in answers] == [True, True]
    assert len(await anvil.deliveries(slug)) == 2


async def test_a_secret_that_does_not_fit_its_scheme_is_found_before_anything_is_sent(anvil: Platform) -> None:
    slug = await anvil.project(config=WebhookConfig(signing_token=True))
    answer = (await tried(anvil, slug, Provider.GITLAB)).json()
    assert (answer["passed"], answer["checks"][-1]["name"]) == (False, "secret")
    assert await anvil.deliveries(slug) == ()
