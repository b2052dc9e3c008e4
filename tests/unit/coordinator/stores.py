"""A store that remembers what it was asked, and can be made to fail: around a real one."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field

from services.kernel.errors import Ambiguous, Unavailable
from services.kernel.ports import Query, Ref, Snapshot, Store, Version, Write


@dataclass(slots=True)
class WatchedStore:
    """Implements `ports.Store`.

    `commits` are those that were applied, `tries` counts the others too. `away`: nothing is answered. `loses`: the
    commit of this number, counted from 0, is applied, or with `drops` not, and its answer lost. `meanwhile` happens
    once, right before the next commit reaches the store.
    """

    store: Store
    reads: list[Sequence[Ref]] = field(default_factory=list[Sequence[Ref]])
    commits: list[Sequence[Write]] = field(default_factory=list[Sequence[Write]])
    queries: list[Query] = field(default_factory=list[Query])
    tries: int = 0
    away: bool = False
    loses: int | None = None
    drops: bool = False
    meanwhile: Callable[[], Awaitable[object]] | None = None

    @property
    def calls(self) -> int:
        return len(self.reads) + self.tries + len(self.queries)

    def forget(self) -> None:
        """Count from here on."""
        self.reads.clear()
        self.commits.clear()
        self.tries = 0
        self.queries.clear()

    def committed(self) -> list[set[str]]:
        """The collections that each commit wrote to."""
        return [{write.ref.collection for write in writes} for writes in self.commits]

    async def get(self, refs: Sequence[Ref], *, fields: Sequence[str] | None = None) -> list[Snapshot | None]:
        self._answer()
        self.reads.append(refs)
        return await self.store.get(refs, fields=fields)

    async def commit(self, writes: Sequence[Write]) -> list[Version]:
        meanwhile, self.meanwhile = self.meanwhile, None
        if meanwhile is not None:
            await meanwhile()
        self._answer()
        number, self.tries = self.tries, self.tries + 1
        lost = number == self.loses
        versions = [] if lost and self.drops else await self._apply(writes)
        if lost:
            raise Ambiguous("the answer was lost")
        return versions

    async def query(self, query: Query) -> list[Snapshot]:
        self._answer()
        self.queries.append(query)
        return await self.store.query(query)

    async def _apply(self, writes: Sequence[Write]) -> list[Version]:
        versions = await self.store.commit(writes)
        self.commits.append(writes)
        return versions

    def _answer(self) -> None:
        if self.away:
            raise Unavailable("the store is away")
