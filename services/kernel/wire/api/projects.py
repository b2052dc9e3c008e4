"""Projects and their queues."""

from services.kernel.endpoint import Audience, Endpoint
from services.kernel.errors import InvalidRepositoryUrl, NotFound, ProjectBusy, SlugTaken
from services.kernel.wire import projects
from services.kernel.wire.model import Empty, Page, PageQuery

LIST_PROJECTS = Endpoint(
    method="GET",
    path="/api/private/projects",
    summary="The projects that the caller may see, newest first",
    request=PageQuery,
    response=Page[projects.Project],
    audience=Audience.VIEWER,
)
CREATE_PROJECT = Endpoint(
    method="POST",
    path="/api/private/projects",
    summary="Create a project",
    request=projects.NewProject,
    response=projects.Project,
    audience=Audience.ADMIN,
    status=201,
    errors=(SlugTaken, InvalidRepositoryUrl),
)
GET_PROJECT = Endpoint(
    method="GET",
    path="/api/private/projects/{project}",
    summary="One project",
    request=Empty,
    response=projects.Project,
    audience=Audience.VIEWER,
    errors=(NotFound,),
)
PATCH_PROJECT = Endpoint(
    method="PATCH",
    path="/api/private/projects/{project}",
    summary="Change the given fields of a project",
    request=projects.ProjectPatch,
    response=projects.Project,
    audience=Audience.ADMIN,
    errors=(NotFound, InvalidRepositoryUrl),
)
DELETE_PROJECT = Endpoint(
    method="DELETE",
    path="/api/private/projects/{project}",
    summary="Delete a project without open runs",
    request=Empty,
    response=Empty,
    audience=Audience.ADMIN,
    status=204,
    errors=(NotFound, ProjectBusy),
)
GET_QUEUE = Endpoint(
    method="GET",
    path="/api/private/projects/{project}/queue",
    summary="Who runs and who waits, in order",
    request=Empty,
    response=projects.Queue,
    audience=Audience.VIEWER,
    errors=(NotFound,),
)
