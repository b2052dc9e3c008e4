"""An answer of the store that is lost on the way changes nothing of what a caller is told, applied or not."""

from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from services.coordinator.records.project import PROJECTS
from services.kernel.runs import Reason, Status
from tests.unit.coordinator.builders import PROJECT_ID, SHA, seconds
from tests.unit.coordinator.driver import Driver, chunk
from tests.unit.coordinator.instance import Place, instance

pytestmark = pytest.mark.anyio

Story = Callable[[Driver], Awaitable[list[object]]]


async def pushes(anvil: Driver) -> list[object]:
    told: list[object] = []
    for number, delivery_id in [(11, "d"), (12, "e"), (13, "d")]:
        told.append(await anvil.push(number, delivery_id, slug="other"))
        await anvil.instance.settle()
    return [*told, await anvil.queue("other"), await anvil.listed("other")]


async def an_attempt(anvil: Driver) -> list[object]:
    told: list[object] = [await anvil.claim(1), await anvil.start(1, sha=SHA), await anvil.beat(1)]
    await anvil.append(1, chunk(0, "hello\n", offset=0))
    await anvil.report(1, Status.FAILED, reason=Reason.STEP_FAILED)
    await anvil.complete(1)
    return [*told, await anvil.show(1), await anvil.show(2)]


async def cancels(anvil: Driver) -> list[object]:
    await anvil.begin(1)
    told: list[object] = [await anvil.cancel(1), await anvil.beat(1), await anvil.cancel(2)]
    await anvil.finish(1, Status.CANCELED)
    return [*told, await anvil.ask_for_run(4, source=1), await anvil.show(4)]


async def a_takeover(anvil: Driver) -> list[object]:
    await anvil.begin(1)
    told: list[object] = [await anvil.sweep(later=seconds(46))]
    await anvil.sweep(later=seconds(301))
    return [*told, (await anvil.show(1)).run, (await anvil.claim(2)).verdict]


async def settings(anvil: Driver) -> list[object]:
    told: list[object] = [
        await anvil.create_project("new", 3),
        await anvil.create_webhook("new"),
        await anvil.patch_project("new", default_branch="trunk"),
        await anvil.switch_webhook("v2", enabled=False, slug="new"),
        await anvil.rotate("v3", if_version="v2", slug="new"),
        await anvil.verification("new"),
        await anvil.ask_for_run(11, "new", key="nightly"),
    ]
    await anvil.delete_webhook("other")
    await anvil.delete_project("other")
    return [*told, await anvil.queue("new")]


async def prepare(anvil: Driver) -> None:
    """The projects `site`, with two pushes that wait, and `other`."""
    for slug, number in (("site", 1), ("other", 2)):
        await anvil.create_project(slug, number)
        await anvil.create_webhook(slug)
    for number in (1, 2):
        await anvil.push(number)
        await anvil.instance.settle()


STORIES: dict[str, Story] = {
    "pushes": pushes,
    "an attempt": an_attempt,
    "cancels": cancels,
    "a takeover": a_takeover,
    "settings": settings,
}


async def told(place: Place, story: Story, *, loses: int | None, drops: bool = False) -> tuple[list[object], int]:
    """What a caller is told and what is stored in the end, and how many commits were tried."""
    async with instance(place) as made:
        driver = Driver(made)
        await prepare(driver)
        made.store.forget()
        made.store.loses, made.store.drops = loses, drops
        answers = await story(driver)
        await made.settle()
        project = await made.stored(PROJECTS, PROJECT_ID)
        return [*answers, project], made.store.tries


@pytest.mark.parametrize("drops", [False, True], ids=["applied", "not applied"])
@pytest.mark.parametrize("story", STORIES)
async def test_whichever_answer_is_lost_the_caller_is_told_the_same(place: Place, story: str, drops: bool) -> None:
    def anew(name: str) -> Place:
        folder: Path = place.folder / name
        folder.mkdir()
        return Place(folder=folder, keys=place.keys, executor=place.executor)

    expected, commits = await told(anew("undisturbed"), STORIES[story], loses=None)
    assert commits > 5

    for number in range(commits):
        answers, _ = await told(anew(f"loses-{number}"), STORIES[story], loses=number, drops=drops)
        assert answers == expected, f"the answer to commit {number} was lost"
