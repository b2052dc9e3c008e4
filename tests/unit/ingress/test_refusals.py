"""Which refusals are counted, and how they are told."""

import json
from datetime import timedelta

import httpx2
import pytest

from services.ingress.coordinator import Coordinator
from services.ingress.materials import NOBODYS, Webhook
from services.ingress.refusals import Refusals
from services.kernel.client import Client
from services.kernel.errors import RepositoryMismatch, Unavailable
from services.kernel.ids import Slug
from services.kernel.wire import internal
from services.kernel.wire.deliveries import Provider
from services.kernel.wire.webhooks import CountRefusals, Refusal, WebhookConfig
from tests.corpus.bodies import push, raw
from tests.corpus.senders import SIGNING_TOKEN, Sender, send_signed
from tests.unit.ingress.coordinator import AUDIENCE, HOOKS, NOW
from tests.unit.ingress.github_deliveries import push as github_push
from tests.unit.ingress.github_deliveries import signed
from tests.unit.ingress.issuer import Issuer
from tests.unit.ingress.site import MovableClock, Site
from tests.unit.ingress.site import site as a_site

pytestmark = pytest.mark.anyio

BODY = json.dumps(github_push()).encode()
GOOD = signed(BODY)
BAD = signed(BODY, secret=b"another secret 000")


def github(**counts: int) -> CountRefusals:
    return CountRefusals(refused={Provider.GITHUB: {Refusal(reason): times for reason, times in counts.items()}})


@pytest.mark.req("C26")
async def test_refusals_are_counted_by_reason_and_told_in_one_message_a_project(issuer: Issuer) -> None:
    async with a_site(issuer) as site:
        site.webhook()
        site.webhook(slug="other", enabled=False)
        unsigned = {name: value for name, value in GOOD.items() if name != "X-Hub-Signature-256"}
        for headers in (BAD, BAD, unsigned, {**GOOD, "X-Gitea-Event": "push"}):
            await site.deliver(BODY, headers)
        await site.deliver(BODY, GOOD, slug="other")
    assert site.coordinator.refused == [
        ("site", github(bad_signature=2, missing_signature=1, another_host=1)),
        ("other", github(disabled=1)),
    ]


async def test_nothing_is_told_before_its_time_and_nothing_twice(issuer: Issuer) -> None:
    async with a_site(issuer) as site:
        site.webhook()
        await site.deliver(BODY, BAD)
        assert internal.COUNT_REFUSALS.path not in site.coordinator.called
    assert len(site.coordinator.refused) == 1


@pytest.mark.threat("A3")
async def test_for_a_project_that_does_not_exist_nothing_is_ever_written(issuer: Issuer) -> None:
    async with a_site(issuer) as site:
        for slug in ("nobody", "NO-SLUG", "a.b"):
            await site.deliver(BODY, BAD, slug=slug)
    assert site.coordinator.refused == []


async def test_a_signed_delivery_that_is_refused_is_counted_too(issuer: Issuer) -> None:
    async with a_site(issuer) as site:
        site.webhook()
        await site.deliver(b"{", signed(b"{"))
        await site.deliver(BODY, {**GOOD, "X-GitHub-Delivery": ""})
        site.coordinator.fail(internal.ACCEPT_DELIVERY, RepositoryMismatch())
        await site.deliver(BODY, GOOD)
    [(_, counted)] = site.coordinator.refused
    assert counted == github(invalid_payload=1, invalid_delivery_id=1, repository_mismatch=1)


async def test_what_is_not_even_looked_into_is_counted_as_that(issuer: Issuer) -> None:
    async with a_site(issuer) as site:
        site.webhook()
        for _ in range(53):
            await site.deliver(BODY, BAD)
    assert site.coordinator.refused == [("site", github(bad_signature=50, too_many_requests=3))]


async def test_a_signature_of_long_ago_is_a_reason_of_its_own(issuer: Issuer) -> None:
    async with a_site(issuer) as site:
        site.webhook(Provider.GITLAB, secret=SIGNING_TOKEN.encode(), config=WebhookConfig(signing_token=True))
        old = send_signed(raw(push(Sender.GITLAB)), id_="d-1", at=int((NOW - timedelta(days=400)).timestamp()))
        assert (await site.deliver(old.body, old.headers, provider="gitlab")).status_code == 401
    assert site.coordinator.refused == [
        ("site", CountRefusals(refused={Provider.GITLAB: {Refusal.STALE_TIMESTAMP: 1}})),
    ]


async def test_a_delivery_that_is_accepted_is_no_refusal(issuer: Issuer) -> None:
    async with a_site(issuer) as site:
        site.webhook()
        await site.deliver(BODY, GOOD)
    assert site.coordinator.refused == []


async def test_counts_that_do_not_arrive_are_lost_and_nobody_waits_for_them(issuer: Issuer) -> None:
    async with a_site(issuer) as site:
        site.webhook()
        site.coordinator.fail(internal.COUNT_REFUSALS, Unavailable())
        await site.deliver(BODY, BAD)
    assert site.coordinator.called.count(internal.COUNT_REFUSALS.path) == 1
    assert site.coordinator.refused == []


class TickingClock(MovableClock):
    """Each sleep is over at once; after the second one nobody wakes any more."""

    def __init__(self) -> None:
        super().__init__()
        self.slept: list[timedelta] = []

    async def sleep(self, duration: timedelta) -> None:
        self.slept.append(duration)
        if len(self.slept) == 3:
            raise EndOfTime


class EndOfTime(Exception):
    pass


def refusals(site: Site, clock: MovableClock) -> Refusals:
    client = Client(
        httpx2.AsyncClient(transport=httpx2.ASGITransport(site.coordinator.app(site.issuer))),
        base_url="http://coordinator",
        audience=AUDIENCE,
        minter=site.issuer.minter(HOOKS),
        clock=clock,
    )
    return Refusals(Coordinator(client), clock=clock, keep=2)


async def test_a_minute_passes_before_each_message(site: Site) -> None:
    clock = TickingClock()
    counted = refusals(site, clock)
    counted.count(Webhook(Slug("site"), Provider.GITHUB), Refusal.BAD_SIGNATURE)
    with pytest.raises(EndOfTime):
        await counted.tell_each_minute()
    assert clock.slept == [timedelta(minutes=1)] * 3
    assert site.coordinator.refused == [("site", github(bad_signature=1))]


async def test_memory_is_kept_for_so_many_projects_and_no_more(site: Site) -> None:
    counted = refusals(site, MovableClock())
    for slug in ("one", "two", "three", "one"):
        counted.count(Webhook(Slug(slug), Provider.GITHUB), Refusal.BAD_SIGNATURE)
    counted.count(Webhook(NOBODYS, Provider.GITHUB), None)
    await counted.tell()
    assert site.coordinator.refused == [("one", github(bad_signature=2)), ("two", github(bad_signature=1))]
