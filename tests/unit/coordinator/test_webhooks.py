"""Webhooks: what ingress verifies with is always what is stored now; nobody else sees a secret."""

import asyncio

import pytest

from services.coordinator.records.project import PROJECTS
from services.kernel.errors import NotFound, StaleVerification, WebhookChanged
from services.kernel.wire import internal
from services.kernel.wire.deliveries import DeliveryQuery, Outcome, Provider
from services.kernel.wire.webhooks import Verification, Webhook, WebhookConfig
from tests.unit.coordinator.builders import OTHER_SHA, PROJECT_ID, SHA, canonical, run_id, seconds
from tests.unit.coordinator.driver import Driver, secret
from tests.unit.coordinator.instance import Instance
from tests.unit.kernel.world import MovableClock

pytestmark = pytest.mark.anyio

NOTHING = Verification(project_id=None, version=None, enabled=False, config=WebhookConfig(), secret=None)


async def webhooks(anvil: Driver) -> tuple[Webhook, ...]:
    return (await anvil.console.call(internal.LIST_WEBHOOKS, path={"project": "site"})).items


async def test_ingress_is_given_the_sealed_secret_and_its_version(anvil: Driver) -> None:
    assert await anvil.verification() == Verification(
        project_id=PROJECT_ID, version="v1", enabled=True, config=WebhookConfig(), secret=secret("s1")
    )


async def test_of_an_unknown_project_or_webhook_ingress_is_told_nothing(anvil: Driver) -> None:
    assert await anvil.verification("nowhere") == NOTHING
    assert await anvil.verification(provider=Provider.GITLAB) == NOTHING


async def test_a_rotation_is_seen_at_once_by_every_instance(anvil: Driver, another: Driver) -> None:
    before = (await another.verification()).version
    await anvil.rotate("v2")
    after = await another.verification()

    assert (before, after.version, after.secret) == ("v1", "v2", secret("s2"))


async def test_what_the_old_secret_verified_is_refused_by_every_instance(anvil: Driver, another: Driver) -> None:
    await another.push(1)
    await anvil.rotate("v2")
    with pytest.raises(StaleVerification):
        await another.push(2)

    assert (await another.push(2, version="v2")).run_id == run_id(2)


async def test_a_repeat_that_the_old_secret_verified_is_refused_too(anvil: Driver, another: Driver) -> None:
    await another.push(1)
    await anvil.rotate("v2")
    with pytest.raises(StaleVerification):
        await another.push(2, "d-1")


async def test_of_two_rotations_at_once_one_wins(anvil: Driver, another: Driver) -> None:
    both = await asyncio.gather(anvil.rotate("v2", name="s2"), another.rotate("v3", name="s3"), return_exceptions=True)
    won = [each for each in both if isinstance(each, Webhook)]

    assert [type(each) for each in both].count(WebhookChanged) == 1
    assert [each.version for each in won] == [(await anvil.verification()).version]


async def test_a_disabled_webhook_takes_no_delivery_and_keeps_its_secret(anvil: Driver) -> None:
    await anvil.switch_webhook("v2", enabled=False)
    disabled = await anvil.verification()
    with pytest.raises(StaleVerification):
        await anvil.push(1, version="v2")
    await anvil.switch_webhook("v3", enabled=True)
    enabled = await anvil.verification()

    assert (disabled.enabled, enabled.enabled) == (False, True)
    assert disabled.secret == enabled.secret == secret("s1")


@pytest.mark.req("R75")
async def test_a_deleted_webhook_leaves_no_secret_behind(anvil: Driver, home: Instance) -> None:
    await anvil.delete_webhook()

    assert await anvil.verification() == NOTHING
    assert (await home.stored(PROJECTS, PROJECT_ID)).webhooks == {}
    with pytest.raises(NotFound):
        await anvil.delete_webhook()


async def test_a_webhook_that_is_there_is_not_created_over(anvil: Driver) -> None:
    with pytest.raises(WebhookChanged):
        await anvil.create_webhook(version="v2", name="s2")

    assert (await anvil.verification()).secret == secret("s1")


async def test_webhooks_are_listed_with_their_newest_ten_deliveries(anvil: Driver, clock: MovableClock) -> None:
    await anvil.create_webhook(provider="gitea")
    for number in range(1, 13):
        clock.move(seconds(1))
        await anvil.push(number)
    gitea, github = await webhooks(anvil)

    assert (gitea.provider, gitea.deliveries) == (Provider.GITEA, ())
    assert [each.delivery_id for each in github.deliveries] == [f"d-{number}" for number in range(12, 2, -1)]


async def test_deliveries_are_listed_newest_first_and_filtered(anvil: Driver, clock: MovableClock) -> None:
    await anvil.push(1)
    clock.move(seconds(1))
    await anvil.deliver(canonical("d-2").model_copy(update={"branch": "feature"}), 2)
    clock.move(seconds(1))
    await anvil.push(3)
    queries = [
        DeliveryQuery(),
        DeliveryQuery(outcome=Outcome.ACCEPTED),
        DeliveryQuery(branch="feature", provider=Provider.GITHUB),
        DeliveryQuery(provider=Provider.GITLAB),
        DeliveryQuery(commit_sha=SHA, outcome=Outcome.ACCEPTED),
        DeliveryQuery(commit_sha=OTHER_SHA),
        DeliveryQuery(since=clock.now() - seconds(1)),
        DeliveryQuery(until=clock.now() - seconds(1)),
    ]
    pages = [
        await anvil.console.call(internal.LIST_DELIVERIES, path={"project": "site"}, body=query) for query in queries
    ]

    assert [[each.delivery_id for each in page.items] for page in pages] == [
        ["d-3", "d-2", "d-1"],
        ["d-3", "d-1"],
        ["d-2"],
        [],
        ["d-3", "d-1"],
        [],
        ["d-3", "d-2"],
        ["d-1"],
    ]


async def test_another_projects_delivery_is_not_found(anvil: Driver) -> None:
    await anvil.create_project("other", 2)
    await anvil.push(1)
    (listed,) = (await anvil.console.call(internal.LIST_DELIVERIES, path={"project": "site"})).items
    own = await anvil.console.call(internal.GET_DELIVERY, path={"project": "site", "delivery": listed.id})

    assert own == listed
    with pytest.raises(NotFound):
        await anvil.console.call(internal.GET_DELIVERY, path={"project": "other", "delivery": listed.id})
