"""Who did what: each act on the state has one entry, in its own commit."""

import asyncio
from collections.abc import Awaitable, Callable

import pytest

from services.kernel.errors import AnvilError, Invalid, NotRerunnable, ProjectBusy, SlugTaken, WebhookChanged
from services.kernel.wire import internal
from services.kernel.wire.audit import Act, AuditEntry, AuditOutcome, AuditQuery
from tests.unit.coordinator.builders import run_id, seconds
from tests.unit.coordinator.driver import ADA, Driver
from tests.unit.coordinator.instance import Instance, Place, instance

pytestmark = pytest.mark.anyio

DoesSomething = Callable[[Driver], Awaitable[object]]


async def entries(anvil: Driver, *, target: str | None = None) -> tuple[AuditEntry, ...]:
    """The newest first, without those of what the fixture made."""
    page = await anvil.console.call(internal.LIST_AUDIT, body=AuditQuery(target=target, page_size=100))
    return page.items


async def acts(anvil: Driver, *, target: str | None = None) -> list[tuple[Act, str]]:
    return [(entry.act, entry.target) for entry in await entries(anvil, target=target)]


async def a_finished_run(anvil: Driver) -> None:
    await anvil.push(1)
    await anvil.begin(1)
    await anvil.finish(1)


async def nothing(anvil: Driver) -> None:
    return


ACTS: list[tuple[str, DoesSomething, DoesSomething, Act, str]] = [
    ("a project is created", nothing, lambda at: at.create_project("new", 2), Act.PROJECT_CREATE, "projects/new"),
    (
        "a project is changed",
        nothing,
        lambda at: at.patch_project(default_branch="trunk"),
        Act.PROJECT_CHANGE,
        "projects/site",
    ),
    ("a project is deleted", nothing, lambda at: at.delete_project(), Act.PROJECT_DELETE, "projects/site"),
    (
        "a webhook is created",
        nothing,
        lambda at: at.create_webhook(provider="gitlab"),
        Act.WEBHOOK_CREATE,
        "projects/site/webhooks/gitlab",
    ),
    (
        "a webhook is switched",
        nothing,
        lambda at: at.switch_webhook("v2", enabled=False),
        Act.WEBHOOK_CHANGE,
        "projects/site/webhooks/github",
    ),
    (
        "a secret is rotated",
        nothing,
        lambda at: at.rotate("v2"),
        Act.WEBHOOK_ROTATE,
        "projects/site/webhooks/github",
    ),
    (
        "a webhook is deleted",
        nothing,
        lambda at: at.delete_webhook(),
        Act.WEBHOOK_DELETE,
        "projects/site/webhooks/github",
    ),
    ("a run is started", nothing, lambda at: at.ask_for_run(5), Act.RUN_START, f"runs/{run_id(5)}"),
    (
        "a run is run again",
        a_finished_run,
        lambda at: at.ask_for_run(5, source=1),
        Act.RUN_RERUN,
        f"runs/{run_id(5)}",
    ),
    ("a run is canceled", lambda at: at.push(1), lambda at: at.cancel(1), Act.RUN_CANCEL, f"runs/{run_id(1)}"),
]


@pytest.mark.parametrize(
    ("before", "does", "act", "target"), [each[1:] for each in ACTS], ids=[each[0] for each in ACTS]
)
async def test_an_act_is_written_down_in_its_own_commit(
    anvil: Driver, home: Instance, before: DoesSomething, does: DoesSomething, act: Act, target: str
) -> None:
    await before(anvil)
    already = len(await entries(anvil))
    await home.settle()
    home.store.forget()
    await does(anvil)

    assert [written for written in home.store.committed() if "audit" in written] == [home.store.committed()[0]]
    (entry, *others) = await entries(anvil)
    assert len(others) == already
    assert (entry.act, entry.target, entry.actor) == (act, target, ADA)
    assert (entry.outcome, entry.code, entry.at == entry.concluded_at) == (AuditOutcome.DONE, None, True)


@pytest.mark.parametrize("drops", [False, True], ids=["applied", "not applied"])
@pytest.mark.parametrize(("before", "does"), [each[1:3] for each in ACTS], ids=[each[0] for each in ACTS])
async def test_an_act_whose_answer_was_lost_is_written_down_once(
    anvil: Driver, home: Instance, before: DoesSomething, does: DoesSomething, drops: bool
) -> None:
    await before(anvil)
    already = len(await entries(anvil))
    await home.settle()
    home.store.forget()
    home.store.loses, home.store.drops = 0, drops
    await does(anvil)

    assert len(await entries(anvil)) == already + 1


async def test_what_changes_nothing_is_not_written_down(anvil: Driver) -> None:
    await anvil.ask_for_run(5, key="nightly")
    await anvil.push(1)
    await anvil.cancel(1)
    already = await entries(anvil)

    await anvil.create_project()
    await anvil.patch_project(default_branch="main")
    await anvil.create_webhook()
    await anvil.switch_webhook("v9", enabled=True)
    await anvil.ask_for_run(6, key="nightly")
    await anvil.cancel(1)

    assert await entries(anvil) == already


REFUSED: list[tuple[DoesSomething, type[AnvilError]]] = [
    (lambda at: at.create_project("site", 9), SlugTaken),
    (lambda at: at.delete_project(), ProjectBusy),
    (lambda at: at.create_webhook(version="v9"), WebhookChanged),
    (lambda at: at.rotate("v9", if_version="v8"), WebhookChanged),
    (lambda at: at.ask_for_run(6, source=1), NotRerunnable),
]


@pytest.mark.parametrize(("does", "error"), REFUSED)
async def test_what_is_refused_is_not_written_down(anvil: Driver, does: DoesSomething, error: type[AnvilError]) -> None:
    await anvil.push(1)
    already = await entries(anvil)
    with pytest.raises(error):
        await does(anvil)

    assert await entries(anvil) == already


async def test_what_git_hosts_runners_and_time_do_is_no_act_of_a_person(anvil: Driver) -> None:
    already = await entries(anvil)
    await a_finished_run(anvil)
    await anvil.sweep()

    assert await entries(anvil) == already


async def test_acts_are_listed_newest_first_page_by_page_and_by_target(anvil: Driver, place: Place) -> None:
    for number in (2, 3, 4):
        place.clock.move(seconds(1))
        await anvil.create_project(f"p{number}", number)
    first = await anvil.console.call(internal.LIST_AUDIT, body=AuditQuery(page_size=2))
    rest = await anvil.console.call(internal.LIST_AUDIT, body=AuditQuery(page_token=first.next_page_token))

    assert [entry.target for entry in first.items] == ["projects/p4", "projects/p3"]
    assert rest.items[0].target == "projects/p2"
    assert rest.next_page_token is None
    assert await acts(anvil, target="projects/p3") == [(Act.PROJECT_CREATE, "projects/p3")]
    with pytest.raises(Invalid, match="page token"):
        await anvil.console.call(internal.LIST_AUDIT, body=AuditQuery(page_token="none"))


async def test_what_a_project_was_stays_known_when_it_is_gone(anvil: Driver) -> None:
    await anvil.delete_project()

    assert await acts(anvil, target="projects/site") == [
        (Act.PROJECT_DELETE, "projects/site"),
        (Act.PROJECT_CREATE, "projects/site"),
    ]


async def test_of_two_instances_that_do_the_same_one_writes_it_down(anvil: Driver, place: Place) -> None:
    await anvil.push(1)
    async with instance(place) as made:
        await asyncio.gather(anvil.cancel(1), Driver(made).cancel(1))

    assert await acts(anvil, target=f"runs/{run_id(1)}") == [(Act.RUN_CANCEL, f"runs/{run_id(1)}")]
