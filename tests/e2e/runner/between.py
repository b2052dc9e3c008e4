"""Stands between a runner and its coordinator, and can hold a call before or after it is passed on."""

import asyncio
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass, field
from enum import StrEnum

import httpx2
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

_HEADERS = ("authorization", "x-serverless-authorization", "content-type", "x-anvil-deadline-ms")


class Where(StrEnum):
    ASKED = "asked"
    """The call has come and is not passed on: nothing has happened."""
    ANSWERED = "answered"
    """It has happened, and the runner does not know."""


@dataclass(slots=True, kw_only=True)
class Hold:
    """One kind of call, of `run` alone if one is named. What is held to the end gets no answer and is not passed on."""

    call: str
    where: Where
    run: str | None
    came: asyncio.Event = field(default_factory=asyncio.Event)
    over: asyncio.Event = field(default_factory=asyncio.Event)
    dropped: bool = True

    def let_go(self) -> None:
        """What is held goes on, and whatever comes later."""
        self.dropped = False
        self.over.set()

    async def pass_by(self) -> bool:
        """Whether the call may go on."""
        self.came.set()
        await self.over.wait()
        return not self.dropped


class Between:
    """A coordinator to the runner, a runner to the coordinator at `url`."""

    def __init__(self, url: str, http: httpx2.AsyncClient) -> None:
        self._url = url
        self._http = http
        self._holds: list[Hold] = []

    @contextmanager
    def holding(self, call: str, run: str | None = None, *, where: Where = Where.ASKED) -> Generator[Hold]:
        hold = Hold(call=call, where=where, run=run)
        self._holds.append(hold)
        try:
            yield hold
        finally:
            self._holds.remove(hold)
            hold.over.set()

    def application(self) -> Starlette:
        return Starlette(routes=[Route("/{path:path}", self._take, methods=["POST"])])

    async def _take(self, request: Request) -> Response:
        body = await request.body()
        if not await self._may_go(request.url.path, Where.ASKED):
            return Response(status_code=503)
        try:
            answer = await self._http.post(
                self._url + request.url.path,
                content=body,
                headers={name: value for name, value in request.headers.items() if name in _HEADERS},
                timeout=60,
            )
        except httpx2.TransportError:
            return Response(status_code=502)
        if not await self._may_go(request.url.path, Where.ANSWERED):
            return Response(status_code=502)
        return Response(answer.content, answer.status_code, media_type=answer.headers.get("content-type"))

    async def _may_go(self, path: str, where: Where) -> bool:
        run, _, call = path.rpartition("/")[2].partition(":")
        for hold in tuple(self._holds):
            meant = (hold.call, hold.where) == (call, where) and hold.run in (None, run)
            if meant and not await hold.pass_by():
                return False
        return True
