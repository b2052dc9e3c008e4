"""Projects: created, changed, deleted, looked at."""

import asyncio
from datetime import timedelta

import pytest

from services.coordinator.records.project import PROJECTS, SLUGS
from services.kernel.errors import NotFound, ProjectBusy, SlugTaken
from services.kernel.runs import Status
from services.kernel.wire import internal
from services.kernel.wire.internal import ProjectsQuery
from services.kernel.wire.projects import Project
from tests.unit.coordinator.builders import PROJECT_ID, REPOSITORY, run_id, seconds
from tests.unit.coordinator.driver import Driver, project_id
from tests.unit.coordinator.instance import Instance
from tests.unit.kernel.world import MovableClock

pytestmark = pytest.mark.anyio


async def listed(anvil: Driver, *, slugs: str | None = None, token: str | None = None) -> tuple[list[str], str | None]:
    asked = ProjectsQuery(slugs=slugs, page_size=2, page_token=token)
    page = await anvil.console.call(internal.LIST_PROJECTS, body=asked)
    return [each.slug for each in page.items], page.next_page_token


async def shown(anvil: Driver, slug: str = "site") -> Project:
    return await anvil.console.call(internal.GET_PROJECT, path={"project": slug})


async def test_a_project_is_as_it_was_created(anvil: Driver, clock: MovableClock) -> None:
    assert await shown(anvil) == Project(
        slug="site",
        project_id=PROJECT_ID,
        name="Site",
        repository_url=REPOSITORY,
        default_branch="main",
        config_path=".anvil.yml",
        created_at=clock.now(),
        active_run_id=None,
        queued=0,
    )


async def test_a_project_shows_its_active_run_and_how_many_wait(anvil: Driver) -> None:
    for number in (1, 2, 3):
        await anvil.push(number)
    await anvil.claim(1)
    project = await shown(anvil)

    assert (project.active_run_id, project.queued) == (run_id(1), 2)


async def test_creating_it_again_is_the_same_project(anvil: Driver, another: Driver) -> None:
    assert await another.create_project() == await shown(anvil)


async def test_two_projects_do_not_have_one_slug(anvil: Driver, home: Instance) -> None:
    with pytest.raises(SlugTaken):
        await anvil.create_project("site", 2)

    assert not await home.is_stored(PROJECTS, project_id(2))


async def test_of_two_that_want_one_slug_at_once_one_gets_it(anvil: Driver, another: Driver) -> None:
    made = await asyncio.gather(
        anvil.create_project("new", 2), another.create_project("new", 3), return_exceptions=True
    )

    assert [type(each) for each in made].count(SlugTaken) == 1
    assert (await shown(anvil, "new")).project_id in (project_id(2), project_id(3))


async def test_only_what_is_given_changes(anvil: Driver, another: Driver) -> None:
    before = await shown(anvil)
    await anvil.patch_project(default_branch="trunk")

    assert await shown(another) == before.model_copy(update={"default_branch": "trunk"})


async def test_a_change_decides_the_very_next_push(anvil: Driver, another: Driver) -> None:
    await anvil.push(1)
    await another.patch_project(default_branch="trunk")

    assert (await anvil.push(2)).outcome.value == "ignored_branch"


async def test_a_project_with_open_runs_is_not_deleted(anvil: Driver) -> None:
    await anvil.push(1)
    with pytest.raises(ProjectBusy):
        await anvil.delete_project()
    await anvil.begin(1)
    with pytest.raises(ProjectBusy):
        await anvil.delete_project()
    await anvil.report(1)
    await anvil.complete(1, teardown_complete=False)
    with pytest.raises(ProjectBusy):
        await anvil.delete_project()
    await anvil.sweep(later=seconds(46))
    await anvil.delete_project()

    with pytest.raises(NotFound):
        await shown(anvil)


async def test_a_deleted_project_frees_its_slug_and_is_found_nowhere(
    anvil: Driver, another: Driver, home: Instance
) -> None:
    await another.queue()
    await anvil.delete_project()

    assert not await home.is_stored(SLUGS, "site")
    for driver in (anvil, another):
        for ask in (driver.queue, driver.listed, driver.delete_project, driver.patch_project):
            with pytest.raises(NotFound):
                await ask()
        with pytest.raises(NotFound):
            await driver.push(1)
    assert await listed(anvil) == ([], None)


async def test_a_project_that_takes_over_a_slug_sees_nothing_of_the_old_one(anvil: Driver, another: Driver) -> None:
    await another.push(1)
    await anvil.begin(1)
    await anvil.finish(1)
    await anvil.delete_project()
    await anvil.create_project("site", 2)
    await anvil.create_webhook(version="v2")

    for driver in (anvil, another):
        assert await driver.listed() == ()
        with pytest.raises(NotFound):
            await driver.show(1)
        with pytest.raises(NotFound):
            await driver.ask_for_run(5, source=1)
    assert (await another.push(2, "d-1", version="v2")).duplicate is False
    assert [each.status for each in (await anvil.listed())] in ([], [Status.QUEUED])


async def test_projects_are_listed_newest_first_in_pages(anvil: Driver, clock: MovableClock) -> None:
    for number, slug in enumerate(("blog", "shop"), start=2):
        clock.move(timedelta(seconds=1))
        await anvil.create_project(slug, number)
    first, token = await listed(anvil)

    assert (first, await listed(anvil, token=token)) == (["shop", "blog"], (["site"], None))


async def test_the_projects_of_given_slugs_are_on_one_page(anvil: Driver, clock: MovableClock) -> None:
    for number, slug in enumerate(("blog", "shop", "wiki"), start=2):
        clock.move(timedelta(seconds=1))
        await anvil.create_project(slug, number)

    assert await listed(anvil, slugs="site,gone,wiki,blog") == (["wiki", "blog", "site"], None)
