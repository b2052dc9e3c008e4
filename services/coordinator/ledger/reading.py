"""What is read of the ledger without changing it. Lists and probes read no results."""

from collections.abc import Generator
from contextlib import contextmanager
from re import fullmatch

from services.coordinator import paging
from services.coordinator.ledger.documents import MASK, Documents
from services.coordinator.ledger.rows import Row
from services.coordinator.records.table import Held
from services.kernel.errors import LedgerUnavailable, NotFound, Unavailable
from services.kernel.ports import Op, Order, Store, Where
from services.kernel.wire.ledger import DOCUMENT, LedgerQuery, LedgerRow
from services.kernel.wire.model import Page

_NO_DOCUMENT = "0" * 64
"""Any id will do for a probe: that there is no such row is an answer too."""


class Reading:
    def __init__(self, store: Store, documents: Documents) -> None:
        self._store = store
        self._documents = documents

    async def row(self, document: str) -> Held[Row]:
        """
        Raises:
            NotFound: there is no such row.
            LedgerUnavailable: the ledger is away.
        """
        with _answered():
            (snapshot,) = await self._store.get([self._documents.ref(_named(document))])
        if (held := self._documents.load(snapshot)) is None:
            raise NotFound("there is no such row")
        return held

    async def shown(self, document: str) -> LedgerRow:
        """
        Raises:
            NotFound: there is no such row.
            LedgerUnavailable: the ledger is away.
        """
        with _answered():
            (snapshot,) = await self._store.get([self._documents.ref(_named(document))], fields=MASK)
        if snapshot is None:
            raise NotFound("there is no such row")
        return self._documents.show(snapshot)

    async def page(self, query: LedgerQuery) -> Page[LedgerRow]:
        """
        Raises:
            Invalid: the page token is not of this list.
            LedgerUnavailable: the ledger is away.
        """
        status = () if query.status is None else (Where("status", Op.EQUAL, query.status.value),)
        older = () if query.older_than is None else (Where("started_at", Op.LESS, query.older_than),)
        by = Order("started_at", descending=True)
        asked = paging.query(self._documents.collection, query, by=by, where=(*status, *older), fields=MASK)
        with _answered():
            found = await self._store.query(asked)
        return paging.page(asked, found, self._documents.glance)

    async def probe(self) -> None:
        """One row's status, whether there is one or not (R114).

        Raises:
            LedgerUnavailable: the ledger does not answer.
        """
        with _answered():
            await self._store.get([self._documents.ref(_NO_DOCUMENT)], fields=("status",))


@contextmanager
def _answered() -> Generator[None]:
    try:
        yield
    except Unavailable as error:
        raise LedgerUnavailable from error


def _named(document: str) -> str:
    """A row's name, which is all that a store is asked for."""
    if fullmatch(DOCUMENT, document) is None:
        raise NotFound("there is no such row")
    return document
