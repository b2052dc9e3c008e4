"""`anvil project` and `anvil queue`."""

import json

import pytest

from services.kernel.errors import InvalidRepositoryUrl, ProjectBusy
from services.kernel.wire import api
from services.kernel.wire.model import PageQuery
from services.kernel.wire.projects import NewProject, ProjectPatch
from tests.unit.cli.conftest import Anvil
from tests.unit.cli.ingress import Ingress, a_project

pytestmark = pytest.mark.anyio

URL = "https://git.example/hello.git"


def known(ingress: Ingress, *slugs: str) -> None:
    for slug in slugs:
        ingress.projects[slug] = a_project(NewProject(slug=slug, name=slug, repository_url=URL))


async def test_a_project_is_created_with_what_is_usual(anvil: Anvil, ingress: Ingress) -> None:
    result = await anvil("project", "create", "hello", "--repository-url", URL)
    assert result.code == 0
    assert ingress.of(api.CREATE_PROJECT) == [
        NewProject(slug="hello", name="hello", repository_url=URL, default_branch="main", config_path=".anvil.yml")
    ]


async def test_an_unusable_repository_is_a_usage_error(anvil: Anvil, ingress: Ingress) -> None:
    ingress.errors[api.CREATE_PROJECT.summary] = InvalidRepositoryUrl("expected https://, not ftp://")
    result = await anvil("project", "create", "--repository-url", "ftp://x")
    assert (result.code, result.err) == (2, "anvil: expected https://, not ftp://\n")


async def test_a_list_goes_on_to_as_many_pages_as_it_takes(anvil: Anvil, ingress: Ingress) -> None:
    known(ingress, *(f"p{number}" for number in range(130)))
    result = await anvil("project", "list", "--limit", "120", "--format", "jsonl")
    assert [json.loads(line)["data"]["slug"] for line in result.out.splitlines()] == [f"p{n}" for n in range(120)]
    assert ingress.of(api.LIST_PROJECTS) == [PageQuery(page_size=100), PageQuery(page_size=20, page_token="100")]


async def test_a_table_that_no_terminal_shows_is_not_cut(anvil: Anvil, ingress: Ingress) -> None:
    known(ingress, "a" * 63)
    ingress.projects["a" * 63] = ingress.projects["a" * 63].model_copy(update={"name": "n" * 200})
    result = await anvil("project", "list")
    head, row = result.out.splitlines()
    assert head.split() == ["SLUG", "NAME", "REPOSITORY", "URL", "DEFAULT", "BRANCH", "ACTIVE", "RUN", "ID", "QUEUED"]
    assert row.split() == ["a" * 63, "n" * 200, URL, "main", "-", "0"]


async def test_an_update_sends_what_was_given_and_nothing_else(anvil: Anvil, ingress: Ingress) -> None:
    known(ingress, "hello")
    result = await anvil("project", "update", "--default-branch", "trunk")
    assert result.code == 0
    [patch] = ingress.of(api.PATCH_PROJECT)
    assert isinstance(patch, ProjectPatch)
    assert patch.model_fields_set == {"default_branch"}


async def test_deleting_asks_and_without_a_terminal_there_is_nobody_to_ask(anvil: Anvil, ingress: Ingress) -> None:
    known(ingress, "hello")
    result = await anvil("project", "delete", "hello", stdin="y\n")
    assert result.code == 2
    assert result.err == "anvil: Delete project hello for good? Expected --yes, as there is no terminal to ask on\n"
    assert "hello" in ingress.projects
    assert (await anvil("project", "delete", "hello", "--yes")).code == 0
    assert "hello" not in ingress.projects


async def test_a_project_with_open_runs_stays(anvil: Anvil, ingress: Ingress) -> None:
    ingress.errors[api.DELETE_PROJECT.summary] = ProjectBusy()
    result = await anvil("project", "delete", "hello", "--yes")
    assert (result.code, result.err) == (1, "anvil: The project still has open runs.\n")


async def test_the_queue_shows_who_runs_and_who_is_next(anvil: Anvil, ingress: Ingress) -> None:
    result = await anvil("queue", "show")
    lines = [line.split() for line in result.out.splitlines()]
    assert lines[1] == ["waiting", "1", "of", "20"]
    assert lines[3][:3] == ["1", "run_0123456789abcdefghijkl", "main"]
