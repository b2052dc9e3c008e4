"""Projects: created, changed, deleted, looked at."""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace

from services.coordinator import paging, views
from services.coordinator.actors import Actors, Decision, View
from services.coordinator.audit import Audit
from services.coordinator.directory import Directory
from services.coordinator.layout import PROJECTS_BY_AGE
from services.coordinator.records.project import PROJECTS, SLUGS, Project, SlugClaim
from services.coordinator.records.refusals import REFUSALS
from services.coordinator.records.run import RUNS
from services.coordinator.rules.numbers import Numbers
from services.kernel.errors import AlreadyExists, Ambiguous, Contended, NotFound, ProjectBusy, SlugTaken
from services.kernel.ids import ProjectId, Slug
from services.kernel.ports import Clock, Ids, Ref, Snapshot, Store, Write
from services.kernel.wire import projects as wire
from services.kernel.wire.audit import Act
from services.kernel.wire.internal import CreateProject, PatchProject, ProjectsQuery
from services.kernel.wire.model import Page

_TRIES = 3


class Projects:
    def __init__(
        self,
        store: Store,
        actors: Actors,
        directory: Directory,
        audit: Audit,
        *,
        clock: Clock,
        ids: Ids,
        numbers: Numbers,
    ) -> None:
        self._store = store
        self._actors = actors
        self._directory = directory
        self._audit = audit
        self._clock = clock
        self._ids = ids
        self._numbers = numbers

    async def create(self, command: CreateProject) -> wire.Project:
        """Create a project and take its slug, both or neither; the same command again finds itself applied.

        Raises:
            SlugTaken: another project has the slug.
        """
        project = Project(
            project_id=ProjectId(command.project_id),
            slug=Slug(command.slug),
            name=command.name,
            repository_url=command.repository_url,
            default_branch=command.default_branch,
            config_path=command.config_path,
            created_at=self._clock.now(),
        )
        claim = SlugClaim(project_id=project.project_id)
        writes = [
            SLUGS.create(project.slug, claim, ids=self._ids),
            PROJECTS.create(project.project_id, project, ids=self._ids),
            self._audit.entry(command.actor, Act.PROJECT_CREATE, _target(project)),
        ]
        for _ in range(_TRIES):
            try:
                await self._store.commit(writes)
                return views.project(project)
            except (AlreadyExists, Contended, Ambiguous):
                # The answer to an earlier try may have been lost: read back whose slug it is now.
                taken = SLUGS.load_if((await self._store.get([SLUGS.ref(project.slug)]))[0])
                if taken is None:
                    continue
                if taken.value != claim:
                    raise SlugTaken(f"another project is called {project.slug}") from None
                return views.project(await self._actors.read(project.project_id))
        raise Contended(f"the slug {project.slug} was changed by others every time")

    async def show(self, slug: str) -> wire.Project:
        """
        Raises:
            NotFound: there is no such project.
        """
        return views.project(await self._directory.at(slug, self._actors.read))

    async def page(self, query: ProjectsQuery) -> Page[wire.Project]:
        """Projects, newest first: all of them, or those with the given slugs, on one page.

        Raises:
            Invalid: the page token is not of this list.
        """
        if query.slugs is not None:
            if query.page_token is not None:
                raise paging.refused()
            return Page(items=await self._named(query.slugs.split(",")))
        asked = paging.query(PROJECTS.collection, query, by=PROJECTS_BY_AGE.order[0])
        return paging.page(asked, await self._store.query(asked), _shown)

    async def patch(self, slug: str, command: PatchProject) -> wire.Project:
        """Change the given fields; what is so already is written nowhere.

        Raises:
            NotFound: there is no such project.
        """
        given = command.model_dump(exclude_none=True, exclude={"actor"}, by_alias=False)

        def rule(view: View) -> Decision[Project]:
            before = view.project.value
            changed = replace(before, **given)
            if changed == before:
                return Decision(answer=before)
            entry = self._audit.entry(command.actor, Act.PROJECT_CHANGE, _target(before))
            return Decision(answer=changed, project=changed, writes=(entry,))

        return views.project(await self._directory.at(slug, lambda project_id: self._actors.decide(project_id, rule)))

    async def delete(self, slug: str, *, actor: str) -> None:
        """Delete a project and free its slug. Its runs and deliveries stay until their time is over, shown to nobody.

        Raises:
            NotFound: there is no such project.
            ProjectBusy: it has open runs.
        """
        await self._directory.at(slug, lambda project_id: self._delete(project_id, actor))

    async def queue(self, slug: str) -> wire.Queue:
        """
        Raises:
            NotFound: there is no such project.
        """
        project = await self._directory.at(slug, self._actors.read)
        active = None
        if (run_id := views.active_run_id(project)) is not None:
            held = RUNS.load_if((await self._store.get([RUNS.ref(run_id)]))[0])
            active = None if held is None else views.run(held.value, position=held.value.position)
        return wire.Queue(
            active_run=active,
            queued=views.queued(project),
            used=len(project.queue),
            capacity=self._numbers.queue_cap,
        )

    async def _delete(self, project_id: ProjectId, actor: str) -> None:
        project = await self._actors.read(project_id)
        needed = [SLUGS.ref(project.slug), REFUSALS.ref(project_id)]

        def rule(view: View) -> Decision[None]:
            project = view.project.value
            if project.active is not None or project.queue:
                holder = "none" if project.active is None else project.active.run_id
                raise ProjectBusy(f"{project.slug} has {len(project.queue)} queued runs; the lock's holder: {holder}")
            writes: list[Write] = [self._audit.entry(actor, Act.PROJECT_DELETE, _target(project))]
            if (claim := view.held(SLUGS, project.slug)) is not None:
                writes.append(SLUGS.delete(project.slug, at=claim.version))
            if (counted := view.held(REFUSALS, project_id)) is not None:
                writes.append(REFUSALS.delete(project_id, at=counted.version))
            return Decision(answer=None, writes=tuple(writes), ends=True)

        # If it is gone by now it is deleted, by this very command if the answer to a first try was lost.
        with suppress(NotFound):
            await self._actors.decide(project_id, rule, needs=lambda _: needed)

    async def _named(self, slugs: list[str]) -> tuple[wire.Project, ...]:
        claims = paging.readable(await self._found([SLUGS.ref(slug) for slug in slugs]), SLUGS.load)
        refs = [PROJECTS.ref(claim.value.project_id) for claim in claims]
        shown = paging.readable(await self._found(refs), _shown)
        return tuple(sorted(shown, key=lambda project: project.created_at, reverse=True))

    async def _found(self, refs: Sequence[Ref]) -> list[Snapshot]:
        return [snapshot for snapshot in await self._store.get(refs) if snapshot is not None]


def _target(project: Project) -> str:
    return f"projects/{project.slug}"


def _shown(snapshot: Snapshot) -> wire.Project:
    return views.project(PROJECTS.load(snapshot).value)
