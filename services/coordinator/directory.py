"""Which project a slug names. A slug never changes hands while its project lives, so a known one need not be read."""

from collections import OrderedDict
from collections.abc import Awaitable, Callable
from typing import TypeVar

from services.coordinator.records.project import SLUGS
from services.kernel.errors import NotFound
from services.kernel.ids import ProjectId
from services.kernel.ports import Store

Answer = TypeVar("Answer")

_REMEMBERED = 10_000


class Directory:
    def __init__(self, store: Store) -> None:
        self._store = store
        self._known: OrderedDict[str, ProjectId] = OrderedDict()

    async def at(self, slug: str, use: Callable[[ProjectId], Awaitable[Answer]]) -> Answer:
        """Do something with the project of this slug; anew if the known one is gone and another has its slug now.

        Raises:
            NotFound: no project has this slug, or `use` finds nothing.
        """
        known = self._known.get(slug)
        if known is None:
            return await use(await self._read(slug))
        try:
            return await use(known)
        except NotFound:
            self._known.pop(slug, None)
            if (now := await self._read(slug)) == known:
                raise
            return await use(now)

    async def _read(self, slug: str) -> ProjectId:
        found = SLUGS.load_if((await self._store.get([SLUGS.ref(slug)]))[0])
        if found is None:
            raise NotFound(f"there is no project {slug}")
        project_id = self._known[slug] = found.value.project_id
        if len(self._known) > _REMEMBERED:
            self._known.popitem(last=False)
        return project_id
