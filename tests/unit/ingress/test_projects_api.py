"""Projects in the private API."""

import pytest

from services.kernel.errors import Ambiguous
from services.kernel.wire import internal
from tests.unit.ingress.issuer import Issuer
from tests.unit.ingress.site import ADMIN, NEIGHBOUR, OPERATOR, VIEWER, Site
from tests.unit.ingress.site import site as another_site

pytestmark = pytest.mark.anyio

NEW = {"slug": "blog", "name": "Blog", "repositoryUrl": "https://github.com/octo/blog"}


async def test_a_project_is_created_with_its_defaults_and_an_id_of_its_own(site: Site) -> None:
    answer = await site.call("POST", "/projects", json=NEW)
    [command] = [each for each in site.coordinator.commands if isinstance(each, internal.CreateProject)]
    assert (answer.status_code, answer.json()["projectId"]) == (201, command.project_id)
    assert (command.default_branch, command.config_path, command.actor) == ("main", ".anvil.yml", ADMIN)


async def test_a_creation_whose_answer_was_lost_is_asked_for_again_under_the_same_id(site: Site) -> None:
    site.coordinator.fail(internal.CREATE_PROJECT, Ambiguous())
    assert (await site.call("POST", "/projects", json=NEW)).status_code == 201
    assert site.coordinator.called.count(internal.CREATE_PROJECT.path) == 2


async def test_a_slug_is_given_once(site: Site) -> None:
    answer = await site.call("POST", "/projects", json={**NEW, "slug": "site"})
    assert (answer.status_code, answer.json()["code"]) == (409, "project_slug_taken")


@pytest.mark.parametrize("by", [OPERATOR, VIEWER, NEIGHBOUR])
async def test_only_an_admin_of_that_project_creates_it(site: Site, by: str) -> None:
    assert (await site.call("POST", "/projects", json=NEW, by=by)).status_code == 403
    assert site.coordinator.called == []


@pytest.mark.parametrize(
    ("changed", "code"),
    [
        ({"repositoryUrl": "http://127.0.0.1/a"}, "invalid_repository_url"),
        ({"repositoryUrl": "file:///tmp/a"}, "invalid_repository_url"),
        ({"repositoryUrl": "https://user@github.com/a"}, "invalid_repository_url"),
        ({"defaultBranch": "-main"}, "invalid_request"),
        ({"configPath": "../x"}, "invalid_request"),
        ({"slug": "A"}, "invalid_request"),
        ({"repoToken": "x"}, "invalid_request"),
    ],
)
async def test_what_cannot_be_a_project_is_refused_with_the_field_that_is_wrong(
    site: Site, changed: dict[str, object], code: str
) -> None:
    created = await site.call("POST", "/projects", json={**NEW, **changed})
    [field] = changed
    assert (created.status_code, created.json()["code"], created.json()["errors"][0]["field"]) == (400, code, field)
    patched = await site.call("PATCH", "/projects/site", json=changed)
    assert (patched.status_code, site.coordinator.called) == (400, [])


async def test_a_local_repository_is_taken_where_they_are_allowed(issuer: Issuer) -> None:
    async with another_site(issuer, local=True) as local:
        answer = await local.call("POST", "/projects", json={**NEW, "repositoryUrl": "file:///tmp/blog"})
    assert answer.status_code == 201


async def test_only_the_fields_that_are_given_change(site: Site) -> None:
    await site.call("PATCH", "/projects/site", json={"name": "The Site"})
    [command] = site.coordinator.commands
    assert command.model_dump(exclude_unset=True) == {"name": "The Site", "actor": ADMIN}


@pytest.mark.parametrize(("by", "slugs"), [(ADMIN, ["site", "other"]), (VIEWER, ["site"]), (NEIGHBOUR, ["other"])])
async def test_a_list_shows_the_projects_one_has_a_role_in(site: Site, by: str, slugs: list[str]) -> None:
    answer = await site.call("GET", "/projects", by=by)
    assert [each["slug"] for each in answer.json()["items"]] == slugs
