"""Projects and their queues, asked for by the console."""

from services.kernel.endpoint import Audience, Endpoint
from services.kernel.errors import NotFound, ProjectBusy, SlugTaken
from services.kernel.wire import audit, projects
from services.kernel.wire.model import Empty, Page, PageQuery, ProjectIdText


class CreateProject(projects.NewProject):
    """`project_id` is the caller's own fresh id, so that asking again finds itself applied."""

    project_id: ProjectIdText
    actor: str


class PatchProject(projects.ProjectPatch):
    actor: str


class ProjectsQuery(PageQuery):
    """Only these projects, given as comma-separated slugs; all of them if absent."""

    slugs: str | None = None


LIST_PROJECTS = Endpoint(
    method="GET",
    path="/v1/projects",
    summary="Projects, newest first",
    request=ProjectsQuery,
    response=Page[projects.Project],
    audience=Audience.CONSOLE,
)
CREATE_PROJECT = Endpoint(
    method="POST",
    path="/v1/projects",
    summary="Create a project",
    request=CreateProject,
    response=projects.Project,
    audience=Audience.CONSOLE,
    status=201,
    errors=(SlugTaken,),
)
GET_PROJECT = Endpoint(
    method="GET",
    path="/v1/projects/{project}",
    summary="One project",
    request=Empty,
    response=projects.Project,
    audience=Audience.CONSOLE,
    errors=(NotFound,),
)
PATCH_PROJECT = Endpoint(
    method="PATCH",
    path="/v1/projects/{project}",
    summary="Change the given fields of a project",
    request=PatchProject,
    response=projects.Project,
    audience=Audience.CONSOLE,
    errors=(NotFound,),
)
DELETE_PROJECT = Endpoint(
    method="DELETE",
    path="/v1/projects/{project}",
    summary="Delete a project without open runs",
    request=audit.Actor,
    response=Empty,
    audience=Audience.CONSOLE,
    status=204,
    errors=(NotFound, ProjectBusy),
)
GET_QUEUE = Endpoint(
    method="GET",
    path="/v1/projects/{project}/queue",
    summary="Who runs and who waits, in order",
    request=Empty,
    response=projects.Queue,
    audience=Audience.CONSOLE,
    errors=(NotFound,),
)
