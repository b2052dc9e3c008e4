"""Projects and their queues."""

from services.ingress import repository
from services.ingress.coordinator import Coordinator
from services.ingress.roles import Role, Roles
from services.kernel.errors import Forbidden
from services.kernel.ids import new_project_id
from services.kernel.ports import Ids
from services.kernel.web import Call, Served, route
from services.kernel.wire import api, internal
from services.kernel.wire.audit import Actor
from services.kernel.wire.model import Empty, Page, PageQuery
from services.kernel.wire.projects import NewProject, Project, ProjectPatch, Queue


class Projects:
    def __init__(self, coordinator: Coordinator, roles: Roles, ids: Ids, *, allow_local_repositories: bool) -> None:
        self._coordinator = coordinator
        self._roles = roles
        self._ids = ids
        self._allow_local = allow_local_repositories

    def served(self) -> list[Served]:
        return [
            route(api.LIST_PROJECTS, self._list),
            route(api.CREATE_PROJECT, self._create),
            route(api.GET_PROJECT, self._get),
            route(api.PATCH_PROJECT, self._patch),
            route(api.DELETE_PROJECT, self._delete),
            route(api.GET_QUEUE, self._queue),
        ]

    async def _list(self, call: Call[PageQuery]) -> Page[Project]:
        visible = self._roles.visible(call.caller.email)
        query = internal.ProjectsQuery(
            page_size=call.body.page_size,
            page_token=call.body.page_token,
            slugs=None if visible == "*" else ",".join(sorted(visible)),
        )
        return await self._coordinator.call(internal.LIST_PROJECTS, body=query)

    async def _create(self, call: Call[NewProject]) -> Project:
        new, principal = call.body, call.caller.email
        role = self._roles.of(principal, new.slug)
        if role is None or not role.covers(Role.ADMIN):
            raise Forbidden(f"{principal} is not an admin of {new.slug}")
        self._check(url=new.repository_url, branch=new.default_branch, config_path=new.config_path)
        # In full: what a person left out is decided here, not by the other side's defaults.
        command = internal.CreateProject(
            slug=new.slug,
            name=new.name,
            repository_url=new.repository_url,
            default_branch=new.default_branch,
            config_path=new.config_path,
            project_id=new_project_id(self._ids),
            actor=principal,
        )
        return await self._coordinator.call(internal.CREATE_PROJECT, body=command)

    async def _get(self, call: Call[Empty]) -> Project:
        return await self._coordinator.call(internal.GET_PROJECT, path=call.path)

    async def _patch(self, call: Call[ProjectPatch]) -> Project:
        patch = call.body
        self._check(url=patch.repository_url, branch=patch.default_branch, config_path=patch.config_path)
        given = patch.model_dump(exclude_unset=True, by_alias=False)
        command = internal.PatchProject.model_validate({**given, "actor": call.caller.email})
        return await self._coordinator.call(internal.PATCH_PROJECT, path=call.path, body=command)

    async def _delete(self, call: Call[Empty]) -> Empty:
        body = Actor(actor=call.caller.email)
        return await self._coordinator.call(internal.DELETE_PROJECT, path=call.path, body=body)

    async def _queue(self, call: Call[Empty]) -> Queue:
        return await self._coordinator.call(internal.GET_QUEUE, path=call.path)

    def _check(self, *, url: str | None, branch: str | None, config_path: str | None) -> None:
        if url is not None:
            repository.check_url(url, allow_local=self._allow_local)
        if branch is not None:
            repository.check_branch(branch, field="defaultBranch")
        if config_path is not None:
            repository.check_config_path(config_path)
