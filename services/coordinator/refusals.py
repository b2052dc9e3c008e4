"""Refused deliveries, counted beside the project: strangers cause them, so they never touch its document (C26)."""

from collections.abc import Mapping
from typing import Final

from services.coordinator.directory import Directory
from services.coordinator.records.project import PROJECTS, Project
from services.coordinator.records.refusals import REFUSALS
from services.coordinator.rules import refusals
from services.kernel.errors import AlreadyExists, Contended, NotFound, PreconditionFailed
from services.kernel.ids import ProjectId
from services.kernel.ports import Clock, Ids, Store
from services.kernel.wire.webhooks import CountRefusals

_TRIES: Final = 5


class Refusals:
    def __init__(self, store: Store, directory: Directory, *, clock: Clock, ids: Ids) -> None:
        self._store = store
        self._directory = directory
        self._clock = clock
        self._ids = ids

    async def count(self, slug: str, command: CountRefusals) -> None:
        """Add to the counters. Tried again after an answer that was lost, it adds twice.

        Raises:
            NotFound: there is no such project.
            Contended: other instances came first every time; nothing was counted.
        """

        async def add(project_id: ProjectId) -> None:
            for _ in range(_TRIES):
                try:
                    return await self._add(project_id, command)
                except (AlreadyExists, PreconditionFailed):
                    continue
            raise Contended(f"the refusals of {slug} were changed by others every time")

        await self._directory.at(slug, add)

    async def of(self, project: Project) -> Mapping[str, Mapping[str, int]]:
        """By provider and reason, since the last rotation; a webhook that refused nothing has none."""
        (snapshot,) = await self._store.get([REFUSALS.ref(project.project_id)])
        held = REFUSALS.load_if(snapshot)
        return refusals.current(None if held is None else held.value, project)

    async def _add(self, project_id: ProjectId, command: CountRefusals) -> None:
        found, stored = await self._store.get([PROJECTS.ref(project_id), REFUSALS.ref(project_id)])
        if found is None:
            raise NotFound(f"there is no project {project_id}")
        held = REFUSALS.load_if(stored)
        before = None if held is None else held.value
        after = refusals.add(before, PROJECTS.load(found).value, command, now=self._clock.now())
        if after is None:
            return
        if held is None:
            await self._store.commit([REFUSALS.create(project_id, after, ids=self._ids)])
        else:
            await self._store.commit([REFUSALS.replace(project_id, after, at=held.version, ids=self._ids)])
