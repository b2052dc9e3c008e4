"""`anvil project`."""

from typing import Annotated

import typer

from services.cli.arguments import Limit, SlugArgument, Yes, checked, given
from services.cli.exits import Usage
from services.cli.noun import Noun
from services.cli.output import Line, Record, Rows, fields
from services.cli.session import Session
from services.kernel.wire import api
from services.kernel.wire.model import Empty, PageQuery
from services.kernel.wire.projects import NewProject, Project, ProjectPatch

noun = Noun("project", about="Repositories, each with one queue of runs.")

Name = Annotated[str | None, typer.Option(metavar="TEXT", help="What people call it; the slug if not given.")]
Repository = Annotated[str, typer.Option("--repository-url", metavar="URL", help="What to check out.")]
NewRepository = Annotated[str | None, typer.Option("--repository-url", metavar="URL", help="What to check out.")]
Branch = Annotated[str, typer.Option(metavar="BRANCH", help="What a manual run runs.")]
NewBranch = Annotated[str | None, typer.Option("--default-branch", metavar="BRANCH", help="What a manual run runs.")]
Config = Annotated[str, typer.Option("--config-path", metavar="PATH", help="The pipeline file in the repository.")]
NewConfig = Annotated[str | None, typer.Option("--config-path", metavar="PATH", help="The pipeline file.")]


@noun.verb("create")
async def create(
    session: Session,
    slug: SlugArgument = None,
    *,
    repository_url: Repository,
    name: Name = None,
    default_branch: Branch = "main",
    config_path: Config = ".anvil.yml",
) -> None:
    """Create a project."""
    meant = session.project(slug)
    with checked():
        body = NewProject(
            slug=meant,
            name=meant if name is None else name,
            repository_url=repository_url,
            default_branch=default_branch,
            config_path=config_path,
        )
    _show(session, await session.api.call(api.CREATE_PROJECT, body=body))
    session.out.note(f"next: anvil webhook put github -p {meant}")


@noun.verb("list")
async def list_(session: Session, limit: Limit = 20) -> None:
    """The projects that you may see, newest first."""
    page = await session.api.pages(api.LIST_PROJECTS, PageQuery(), limit=limit)
    columns = ("slug", "name", "repositoryUrl", "defaultBranch", "activeRunId", "queued")
    session.out.show(page, Rows([fields(project) for project in page.items], columns))


@noun.verb("show")
async def show(session: Session, slug: SlugArgument = None) -> None:
    """One project."""
    _show(session, await session.api.call(api.GET_PROJECT, path={"project": session.project(slug)}, body=Empty()))


@noun.verb("update")
async def update(
    session: Session,
    slug: SlugArgument = None,
    *,
    repository_url: NewRepository = None,
    name: Name = None,
    default_branch: NewBranch = None,
    config_path: NewConfig = None,
) -> None:
    """Change what is given; the rest stays."""
    with checked():
        body = ProjectPatch.model_validate(
            given(name=name, repository_url=repository_url, default_branch=default_branch, config_path=config_path)
        )
    if not body.model_fields_set:
        raise Usage("expected something to change: --name, --repository-url, --default-branch or --config-path")
    _show(session, await session.api.call(api.PATCH_PROJECT, path={"project": session.project(slug)}, body=body))


@noun.verb("delete")
async def delete(session: Session, slug: SlugArgument = None, *, yes: Yes = False) -> None:
    """Delete a project that has no open runs, with its webhooks and their secrets."""
    meant = session.project(slug)
    session.confirm(f"Delete project {meant} for good?", yes=yes)
    await session.api.call(api.DELETE_PROJECT, path={"project": meant}, body=Empty())
    session.out.show({"deleted": meant}, Line(meant))


def _show(session: Session, project: Project) -> None:
    session.out.show(project, Record(fields(project)))
