"""When material that is out of date costs somebody something, and when it must not."""

import json
from datetime import timedelta

import anyio
import pytest

from services.kernel.errors import Unavailable
from services.kernel.wire import internal
from tests.unit.ingress.github_deliveries import SECRET, push, signed
from tests.unit.ingress.site import Site

pytestmark = pytest.mark.anyio

NEW = b"a secret of the new age"
BODY = json.dumps(push()).encode()
LOADED = internal.VERIFICATION.path


def loads(site: Site) -> int:
    return site.coordinator.called.count(LOADED)


async def test_a_genuine_delivery_loads_nothing_that_is_known(site: Site) -> None:
    site.webhook()
    answers = [await site.deliver(BODY, signed(BODY)) for _ in range(3)]
    assert [answer.status_code for answer in answers] == [202, 202, 202]
    assert loads(site) == 1


async def test_a_new_secret_counts_at_once_although_the_old_one_is_known(site: Site) -> None:
    site.webhook()
    await site.deliver(BODY, signed(BODY))
    site.webhook(secret=NEW, version="v2")
    assert (await site.deliver(BODY, signed(BODY, secret=NEW))).status_code == 202
    assert site.coordinator.accepted[-1].webhook_version == "v2"


@pytest.mark.req("R77")
@pytest.mark.inv("K4")
async def test_an_old_secret_fails_at_once_although_it_is_known(site: Site) -> None:
    site.webhook()
    await site.deliver(BODY, signed(BODY))
    site.webhook(secret=NEW, version="v2")
    assert (await site.deliver(BODY, signed(BODY))).status_code == 401
    assert len(site.coordinator.accepted) == 1


async def test_an_old_secret_learns_nothing_about_its_payload_either(site: Site) -> None:
    site.webhook()
    await site.deliver(BODY, signed(BODY))
    site.webhook(secret=NEW, version="v2")
    assert (await site.deliver(b"{", signed(b"{"))).status_code == 401
    assert (await site.deliver(BODY, signed(BODY, guid=""))).status_code == 401


@pytest.mark.req("C11")
async def test_a_webhook_that_changes_while_a_delivery_is_recorded_verifies_it_once_more(site: Site) -> None:
    site.webhook()

    async def rotate_with_the_same_secret() -> None:
        site.webhook(version="v2")

    site.coordinator.meanwhile(internal.ACCEPT_DELIVERY, rotate_with_the_same_secret)
    assert (await site.deliver(BODY, signed(BODY))).status_code == 202
    assert [accepted.webhook_version for accepted in site.coordinator.accepted] == ["v2"]


async def test_a_secret_that_is_rotated_away_while_its_delivery_is_recorded_is_refused(site: Site) -> None:
    site.webhook()

    async def rotate() -> None:
        site.webhook(secret=NEW, version="v2")

    site.coordinator.meanwhile(internal.ACCEPT_DELIVERY, rotate)
    assert (await site.deliver(BODY, signed(BODY))).status_code == 401
    assert site.coordinator.accepted == []


async def test_a_webhook_that_changes_again_and_again_is_given_up_for_now(site: Site) -> None:
    site.webhook()

    async def change(version: str) -> None:
        site.webhook(version=version)

    site.coordinator.meanwhile(internal.ACCEPT_DELIVERY, lambda: change("v2"))
    site.coordinator.meanwhile(internal.ACCEPT_DELIVERY, lambda: change("v3"))
    answer = await site.deliver(BODY, signed(BODY))
    assert (answer.status_code, answer.json()["code"]) == (503, "unavailable")
    assert site.coordinator.called.count(internal.ACCEPT_DELIVERY.path) == 2


async def test_requests_that_fail_together_share_the_loads_that_began_after_they_came(site: Site) -> None:
    site.webhook()
    await site.deliver(BODY, signed(BODY))
    answers: list[int] = []

    async def forge() -> None:
        answers.append((await site.deliver(BODY, signed(BODY, secret=NEW))).status_code)

    async with anyio.create_task_group() as together:
        for _ in range(20):
            together.start_soon(forge)
    assert answers == [401] * 20
    assert loads(site) <= 4


@pytest.mark.req("R48")
async def test_too_many_bad_signatures_are_429_and_a_good_one_still_comes_through(site: Site) -> None:
    site.webhook()
    await site.deliver(BODY, signed(BODY))
    forged = [await site.deliver(BODY, signed(BODY, secret=NEW)) for _ in range(52)]
    assert [answer.status_code for answer in forged] == [401] * 50 + [429] * 2
    assert forged[-1].headers["retry-after"] == "1"
    assert loads(site) == 51
    assert (await site.deliver(BODY, signed(BODY))).status_code == 202
    site.clock.passed += timedelta(milliseconds=200)
    again = [await site.deliver(BODY, signed(BODY, secret=NEW)) for _ in range(3)]
    assert [answer.status_code for answer in again] == [401, 401, 429]


async def test_without_material_nobody_is_refused(site: Site) -> None:
    site.webhook()
    site.coordinator.fail(internal.VERIFICATION, Unavailable())
    assert (await site.deliver(BODY, signed(BODY, secret=NEW))).status_code == 503


@pytest.mark.inv("K5")
async def test_a_disabled_webhook_verifies_nothing_and_the_same_secret_counts_once_it_is_enabled(site: Site) -> None:
    site.webhook(enabled=False)
    assert (await site.deliver(BODY, signed(BODY))).status_code == 401
    site.coordinator.webhooks["site", "github"].enabled = True
    assert (await site.deliver(BODY, signed(BODY))).status_code == 202


@pytest.mark.inv("K6")
async def test_a_ciphertext_in_another_projects_place_does_not_verify(site: Site) -> None:
    site.webhook(slug="other", secret=SECRET)
    site.coordinator.webhooks["site", "github"] = site.coordinator.webhooks["other", "github"]
    assert (await site.deliver(BODY, signed(BODY), slug="other")).status_code == 202
    assert (await site.deliver(BODY, signed(BODY), slug="site")).status_code == 401
