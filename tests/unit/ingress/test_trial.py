"""What a trial finds where something is in the way of a webhook."""

from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager

import httpx2
import pytest

from services.ingress.coordinator import Coordinator
from services.ingress.providers.registry import git_host
from services.ingress.trial import Trial
from services.kernel.adapters.clock import SystemClock, SystemIds
from services.kernel.client import Client
from services.kernel.errors import NotFound
from services.kernel.wire.webhooks import WebhookCheck
from tests.unit.ingress.coordinator import AUDIENCE, CONSOLE
from tests.unit.ingress.site import OPERATOR, VIEWER, Site

pytestmark = pytest.mark.anyio

Answers = Callable[[httpx2.Request], httpx2.Response]


@asynccontextmanager
async def trial(site: Site, answers: Answers) -> AsyncGenerator[Trial]:
    """A trial in which the public URL is answered by somebody else."""
    inner = httpx2.AsyncClient(transport=httpx2.ASGITransport(site.coordinator.app(site.issuer)))
    async with inner, httpx2.AsyncClient(transport=httpx2.MockTransport(answers)) as outer:
        client = Client(
            inner,
            base_url="http://coordinator",
            audience=AUDIENCE,
            minter=site.issuer.minter(CONSOLE),
            clock=SystemClock(),
        )
        yield Trial(
            Coordinator(client),
            site.custody,
            outer,
            url="https://ci.example.com",
            clock=SystemClock(),
            ids=SystemIds(),
        )


async def found(site: Site, answers: Answers) -> WebhookCheck:
    """The check that failed."""
    site.webhook()
    async with trial(site, answers) as made:
        tested = await made.run("site", *git_host("github"))
    assert not tested.passed
    assert all(check.passed for check in tested.checks[:-1])
    return tested.checks[-1]


def problem(status: int, code: str) -> Answers:
    return lambda request: httpx2.Response(status, json={"code": code})


def nobody(request: httpx2.Request) -> httpx2.Response:
    raise httpx2.ConnectError("refused")


async def test_a_public_url_that_nobody_answers_is_not_reachable(site: Site) -> None:
    check = await found(site, nobody)
    assert (check.name, check.finding) == (
        "reachable",
        "https://ci.example.com/api/public/hooks/github/site: ConnectError",
    )


@pytest.mark.parametrize("status", [301, 403, 404, 502])
async def test_an_answer_that_is_not_anvils_is_shown_as_it_is(site: Site, status: int) -> None:
    check = await found(site, lambda request: httpx2.Response(status, text="<h1>A proxy</h1>"))
    assert (check.name, str(status) in check.finding, "A proxy" in check.finding) == ("reachable", True, True)


@pytest.mark.parametrize(
    ("status", "code", "name"),
    [
        (401, "invalid_signature", "signature"),
        (403, "webhook_repo_mismatch", "repository"),
        (400, "invalid_payload", "recorded"),
        (503, "unavailable", "recorded"),
    ],
)
async def test_a_refusal_is_found_by_the_check_that_it_is_about(site: Site, status: int, code: str, name: str) -> None:
    assert (await found(site, problem(status, code))).name == name


async def test_a_success_that_no_delivery_stands_behind_is_none(site: Site) -> None:
    answer = {
        "outcome": "ignored_ping",
        "duplicate": False,
        "deliveryId": "d-1",
        "runId": None,
        "firstSeenAt": "2026-11-30T09:30:00Z",
        "hint": "",
    }
    check = await found(site, lambda request: httpx2.Response(200, json=answer))
    assert (check.name, check.finding) == ("recorded", "the answer says so, but no such delivery is listed")


async def test_a_disabled_webhook_is_not_tried(site: Site) -> None:
    site.webhook(enabled=False)
    async with trial(site, nobody) as made:
        tested = await made.run("site", *git_host("github"))
    assert [(check.name, check.passed) for check in tested.checks] == [("enabled", False)]


async def test_a_webhook_that_does_not_exist_is_not_found(site: Site) -> None:
    async with trial(site, nobody) as made:
        with pytest.raises(NotFound):
            await made.run("site", *git_host("gitlab"))


async def test_a_viewer_tries_nothing_out(site: Site) -> None:
    site.webhook()
    path = "/projects/site/webhooks/github/test"
    assert (await site.call("POST", path, json={}, by=VIEWER)).status_code == 403
    assert (await site.call("POST", "/projects/site/webhooks/gitea/test", json={}, by=OPERATOR)).status_code == 404
