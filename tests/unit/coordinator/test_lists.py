"""Every list: a page token is good for it alone, and a document that cannot be read takes no other with it."""

import base64
import json
from dataclasses import dataclass
from datetime import timedelta

import pytest
from pydantic import JsonValue
from structlog.testing import capture_logs

from services.kernel.errors import AnvilError, Invalid
from services.kernel.ports import Create, Document, Ref
from services.kernel.wire import internal
from services.kernel.wire.audit import AuditQuery
from services.kernel.wire.deliveries import DeliveryQuery, Outcome
from services.kernel.wire.internal import ProjectsQuery
from services.kernel.wire.model import Page, PageQuery, Wire
from tests.unit.coordinator.builders import run_id, seconds
from tests.unit.coordinator.driver import Driver, project_id
from tests.unit.kernel.world import NOON, MovableClock

pytestmark = pytest.mark.anyio

SITE = {"project": "site"}


@dataclass(frozen=True, slots=True)
class Lists:
    """The coordinator's lists, each by the name of its collection."""

    anvil: Driver

    async def page(self, name: str, *, size: int = 100, token: str | None = None) -> Page[Wire]:
        console = self.anvil.console
        paged = {"page_size": size, "page_token": token}
        match name:
            case "projects":
                found = await console.call(internal.LIST_PROJECTS, body=ProjectsQuery.model_validate(paged))
                return Page[Wire](items=found.items, next_page_token=found.next_page_token)
            case "run_index":
                runs = await console.call(internal.LIST_RUNS, path=SITE, body=PageQuery.model_validate(paged))
                return Page[Wire](items=runs.items, next_page_token=runs.next_page_token)
            case "deliveries":
                asked = DeliveryQuery.model_validate(paged)
                rows = await console.call(internal.LIST_DELIVERIES, path=SITE, body=asked)
                return Page[Wire](items=rows.items, next_page_token=rows.next_page_token)
            case _:
                acts = await console.call(internal.LIST_AUDIT, body=AuditQuery.model_validate(paged))
                return Page[Wire](items=acts.items, next_page_token=acts.next_page_token)

    async def all(self, name: str, *, size: int) -> list[Wire]:
        found: list[Wire] = []
        page = await self.page(name, size=size)
        while page.next_page_token is not None:
            found += page.items
            page = await self.page(name, size=size, token=page.next_page_token)
        return [*found, *page.items]

    async def token(self, name: str) -> str:
        token = (await self.page(name, size=1)).next_page_token
        assert token is not None
        return token

    async def plant(self, name: str, id_: str, data: Document) -> None:
        """Put a document there behind the coordinator's back."""
        await self.anvil.instance.store.store.commit([Create(Ref(name, id_), {**data, "nonce": "planted"})])


TIMES = {"projects": "created_at", "run_index": "queued_at", "deliveries": "received_at", "audit": "at"}


@pytest.fixture
async def lists(anvil: Driver, clock: MovableClock) -> Lists:
    """Three of everything, a second apart."""
    for number in (1, 2, 3):
        clock.move(seconds(1))
        await anvil.push(number)
        await anvil.create_project(f"p{number}", number + 1)
    await anvil.instance.settle()
    return Lists(anvil)


async def refused(lists: Lists, name: str, token: str) -> bool:
    with pytest.raises(Invalid) as error:
        await lists.page(name, token=token)
    return [(each.field, each.message) for each in error.value.fields] == [("pageToken", "not a token of this list")]


@pytest.mark.parametrize("name", TIMES)
async def test_a_token_leads_on_in_its_own_list_and_in_no_other(lists: Lists, name: str) -> None:
    token = await lists.token(name)
    assert (await lists.page(name, token=token)).items == (await lists.page(name)).items[1:]
    for other in TIMES:
        assert other == name or await refused(lists, other, token), other


async def test_a_token_is_of_the_list_with_its_filters(lists: Lists, anvil: Driver) -> None:
    console, of_site, of_all = anvil.console, await lists.token("run_index"), await lists.token("deliveries")
    with pytest.raises(Invalid):
        await console.call(internal.LIST_RUNS, path={"project": "p1"}, body=PageQuery(page_token=of_site))
    for narrower in ({"outcome": Outcome.ACCEPTED}, {"since": NOON}, {"until": NOON}):
        asked = DeliveryQuery.model_validate({**narrower, "page_token": of_all})
        with pytest.raises(Invalid):
            await console.call(internal.LIST_DELIVERIES, path=SITE, body=asked)
    with pytest.raises(Invalid):
        await console.call(
            internal.LIST_AUDIT, body=AuditQuery(target="projects/p1", page_token=await lists.token("audit"))
        )
    named = ProjectsQuery(slugs="p1,p2", page_token=await lists.token("projects"))
    with pytest.raises(Invalid):
        await console.call(internal.LIST_PROJECTS, body=named)


MADE_UP: dict[str, tuple[int, JsonValue]] = {
    "of another list": (0, "0" * 16),
    "of no list": (0, None),
    "a time of nowhere": (1, "2026-11-30T12:00:01"),
    "a time of elsewhere": (1, "2026-11-30T13:00:01+01:00"),
    "a time out of time": (1, "9999-12-31T23:59:59-23:00"),
    "no time": (1, 1),
    "no id": (2, ""),
    "a path": (2, "a/b"),
    "this folder": (2, "."),
    "the folder above": (2, ".."),
    "a reserved id": (2, "__x__"),
    "a number": (2, 7),
}


@pytest.mark.parametrize(("part", "value"), MADE_UP.values(), ids=MADE_UP)
async def test_a_token_whose_parts_are_made_up_is_refused(lists: Lists, part: int, value: JsonValue) -> None:
    parts = json.loads(base64.urlsafe_b64decode(await lists.token("projects")))
    parts[part] = value
    assert await refused(lists, "projects", base64.urlsafe_b64encode(json.dumps(parts).encode()).decode())
    compact = json.dumps(parts, separators=(",", ":")).encode()
    assert await refused(lists, "projects", base64.urlsafe_b64encode(compact).decode())


@pytest.mark.parametrize("more", ["=", "\n", " ", "!", "é"])
async def test_a_token_with_anything_added_is_refused(lists: Lists, more: str) -> None:
    assert await refused(lists, "projects", await lists.token("projects") + more)


@pytest.mark.parametrize("size", [1, 2, 100])
@pytest.mark.parametrize("name", TIMES)
async def test_what_cannot_be_read_is_left_out_and_logged(lists: Lists, name: str, size: int) -> None:
    whole = await lists.all(name, size=100)
    of_site: Document = {"project_id": project_id(1)}
    await lists.plant(name, "newest", {**of_site, TIMES[name]: NOON + timedelta(hours=1), "schema": 1})
    await lists.plant(name, "between", {**of_site, TIMES[name]: NOON + timedelta(seconds=2), "schema": 99})
    await lists.plant(name, "oldest", {**of_site, TIMES[name]: NOON - timedelta(hours=1), "schema": 1})
    with capture_logs() as lines:
        assert await lists.all(name, size=size) == whole
    told = {(line["collection"], line["document"]) for line in lines if line["log_level"] == "error"}
    assert told == {(name, "newest"), (name, "between"), (name, "oldest")}


@pytest.mark.parametrize("name", TIMES)
@pytest.mark.parametrize("time", ["never", 7, None, True])
async def test_what_has_no_time_stands_in_nobodys_way(lists: Lists, name: str, time: str | int | None) -> None:
    whole = await lists.all(name, size=100)
    for number in range(3):
        await lists.plant(name, f"timeless-{number}", {"project_id": project_id(1), TIMES[name]: time, "schema": 1})
    assert await lists.all(name, size=1) == whole


async def test_a_project_that_cannot_be_read_hides_no_other_that_somebody_may_see(lists: Lists, anvil: Driver) -> None:
    await lists.plant("slugs", "broken", {"schema": 99})
    await lists.plant("slugs", "hollow", {"schema": 1, "project_id": project_id(9)})
    await lists.plant("projects", project_id(9), {"created_at": NOON, "schema": 99})

    asked = ProjectsQuery(slugs="broken,hollow,p1,site")
    page = await anvil.console.call(internal.LIST_PROJECTS, body=asked)
    assert [each.slug for each in page.items] == ["p1", "site"]


async def test_alone_it_stays_an_error(lists: Lists, anvil: Driver) -> None:
    await lists.plant("slugs", "hollow", {"schema": 1, "project_id": project_id(9)})
    await lists.plant("projects", project_id(9), {"created_at": NOON, "schema": 99})
    await lists.plant("runs", run_id(9), {"schema": 99})
    with pytest.raises(AnvilError, match="Something went wrong here"):
        await anvil.console.call(internal.GET_PROJECT, path={"project": "hollow"})
    with pytest.raises(AnvilError, match="Something went wrong here"):
        await anvil.show(9)
