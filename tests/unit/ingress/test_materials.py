"""What is kept, what is loaded again, and who waits for whom."""

import anyio
import pytest

from services.ingress.materials import Materials, Webhook
from services.kernel.errors import Unavailable
from services.kernel.wire.deliveries import Provider
from services.kernel.wire.webhooks import Verification, WebhookConfig

pytestmark = pytest.mark.anyio

SITE = Webhook.at("site", Provider.GITHUB)


class Source:
    """Answers with a version that counts the loads; waits where a gate is set."""

    def __init__(self) -> None:
        self.asked: list[Webhook] = []
        self.gate: anyio.Event | None = None
        self.away = False

    async def load(self, webhook: Webhook) -> Verification:
        self.asked.append(webhook)
        version = str(len(self.asked))
        if self.gate:
            await self.gate.wait()
        if self.away:
            raise Unavailable
        return Verification(project_id=None, version=version, enabled=True, config=WebhookConfig(), secret=None)


async def test_what_is_known_is_not_loaded_again() -> None:
    source = Source()
    materials = Materials(source.load)
    first, second = await materials.known(SITE), await materials.known(SITE)
    assert (first.verification.version, second.verification.version) == ("1", "1")


async def test_a_load_that_began_before_the_mark_does_not_serve_it_and_one_after_it_serves_all() -> None:
    source = Source()
    source.gate = anyio.Event()
    materials = Materials(source.load)
    found: list[str | None] = []

    async def newer() -> None:
        found.append((await materials.newer(SITE, materials.begun)).verification.version)

    async with anyio.create_task_group() as together:
        together.start_soon(newer)
        await anyio.wait_all_tasks_blocked()
        for _ in range(5):
            together.start_soon(newer)
        await anyio.wait_all_tasks_blocked()
        assert len(source.asked) == 1
        source.gate.set()
    assert found == ["1", "2", "2", "2", "2", "2"]


async def test_a_load_that_fails_leaves_what_was_known_and_the_next_one_loads() -> None:
    source = Source()
    materials = Materials(source.load)
    await materials.known(SITE)
    source.away = True
    with pytest.raises(Unavailable):
        await materials.newer(SITE, materials.begun)
    assert (await materials.known(SITE)).verification.version == "1"
    source.away = False
    assert (await materials.newer(SITE, materials.begun)).verification.version == "3"


async def test_only_what_was_used_last_is_kept() -> None:
    source = Source()
    materials = Materials(source.load, keep=2)
    one, two, three = (Webhook.at(slug, Provider.GITHUB) for slug in ("one", "two", "three"))
    for webhook in (one, two, one, three, one, two):
        await materials.known(webhook)
    assert source.asked == [one, two, three, two]


@pytest.mark.threat("A23")
@pytest.mark.parametrize("slug", ["", "A", "-a", "a b", "a\n", "a" * 64, "ä", "٣", "a/b", "a.b"])
def test_what_is_no_slug_names_nobodys_project(slug: str) -> None:
    assert Webhook.at(slug, Provider.GITHUB).project == ""
