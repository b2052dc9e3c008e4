"""Every list: a page token is good for it alone."""

import base64
import json
from dataclasses import dataclass

import pytest
from pydantic import JsonValue

from services.kernel.errors import Invalid
from services.kernel.wire import internal
from services.kernel.wire.audit import AuditQuery
from services.kernel.wire.deliveries import DeliveryQuery, Outcome
from services.kernel.wire.internal import ProjectsQuery
from services.kernel.wire.model import Page, PageQuery, Wire
from tests.unit.coordinator.builders import seconds
from tests.unit.coordinator.driver import Driver
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

    async def token(self, name: str) -> str:
        token = (await self.page(name, size=1)).next_page_token
        assert token is not None
        return token


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
