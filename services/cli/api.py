"""Calls to the private API as the command makes them: with its patience, and page by page."""

from collections.abc import Generator, Mapping
from contextlib import contextmanager
from datetime import timedelta
from typing import TypeVar

import httpx2

from services.cli.identity import AUDIENCE
from services.kernel.client import Client
from services.kernel.endpoint import Endpoint
from services.kernel.errors import Ambiguous, Unavailable
from services.kernel.ports import Clock, Minter
from services.kernel.wire import api
from services.kernel.wire.internal import LogQuery
from services.kernel.wire.model import Page, PageQuery, Wire
from services.kernel.wire.runs import LogPart

Req = TypeVar("Req", bound=Wire)
Res = TypeVar("Res", bound=Wire)
Item = TypeVar("Item", bound=Wire)
Query = TypeVar("Query", bound=PageQuery)

PATIENCE = timedelta(seconds=30)
_LARGEST_PAGE = 100


class Api:
    """`patience` is how long one call may take; half a minute if nobody said."""

    def __init__(
        self, http: httpx2.AsyncClient, *, endpoint: str, minter: Minter, clock: Clock, patience: timedelta | None
    ) -> None:
        self._client = Client(http, base_url=endpoint, audience=AUDIENCE, minter=minter, clock=clock)
        self._endpoint = endpoint
        self._patience = patience

    async def call(
        self,
        endpoint: Endpoint[Req, Res],
        *,
        body: Req,
        path: Mapping[str, str] | None = None,
        headers: Mapping[str, str] | None = None,
        patience: timedelta = PATIENCE,
    ) -> Res:
        """Raises what `Client.call` does, but a read whose answer got lost is `Unavailable`: it changed nothing.

        `patience` is for what may take longer than most; what the user said goes before it.
        """
        within = self._patience or patience
        with self._told(endpoint.method):
            return await self._client.call(endpoint, path=path, body=body, headers=headers, within=within)

    async def log(self, run: str, *, after: int) -> LogPart:
        """What a run's log holds from byte `after` on. Raises like `call`."""
        with self._told("GET"):
            answer = await self._client.fetch(
                api.GET_LOG, path={"run": run}, body=LogQuery(after=after), within=self._patience or PATIENCE
            )
        return LogPart(
            text=answer.content.decode(errors="replace"),
            cursor=int(answer.headers.get("X-Log-Cursor", after + len(answer.content))),
            complete=answer.headers.get("X-Log-Complete") == "true",
        )

    async def pages(
        self,
        endpoint: Endpoint[Query, Page[Item]],
        query: Query,
        *,
        limit: int,
        path: Mapping[str, str] | None = None,
    ) -> Page[Item]:
        """The first `limit` items, from as many pages as they take, and the token of what follows them."""
        items: list[Item] = []
        token: str | None = None
        while True:
            size = min(limit - len(items), _LARGEST_PAGE)
            part = query.model_copy(update={"page_size": size, "page_token": token})
            page = await self.call(endpoint, body=part, path=path)
            items += page.items
            token = page.next_page_token
            if token is None or len(items) >= limit:
                return page.model_copy(update={"items": tuple(items)})

    @contextmanager
    def _told(self, method: str) -> Generator[None]:
        """Errors as the user of a command needs them."""
        try:
            yield
        except Ambiguous as error:
            if method == "GET":
                raise Unavailable(error.detail, retry_after=error.retry_after) from error
            raise
        except Unavailable as error:
            if isinstance(error.__cause__, httpx2.RequestError):
                raise Unavailable(f"{self._endpoint} cannot be reached") from error
            raise
