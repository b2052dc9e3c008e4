"""Liveness and readiness, alike in every service."""

import asyncio
from collections.abc import Awaitable, Callable
from datetime import timedelta

from pydantic import Field

from services.kernel.endpoint import Audience, Endpoint
from services.kernel.errors import AnvilError, Unavailable
from services.kernel.log import get_logger
from services.kernel.web.serving import Answer, Call, Res, Served, route
from services.kernel.wire.model import Empty, Wire

log = get_logger(__name__)

READY_WITHIN = timedelta(seconds=3)
LIVE_PATHS = ("/livez", "/health/live")
READY_PATHS = ("/readyz", "/health/ready")
"""The front of Cloud Run may keep paths that end in z for itself: hence the aliases."""


class Live(Wire):
    """The process serves."""

    live: bool
    service: str


class Ready(Wire):
    """Whether the service can work, and if not, the code of what it lacks."""

    ready: bool
    service: str
    code: str | None = Field(default=None, exclude_if=lambda code: code is None)


def health(service: str, ready: Callable[[], Awaitable[None]]) -> list[Served]:
    """`ready` raises what keeps the service from working; the code of that is all that is said."""

    async def live(call: Call[Empty]) -> Live:
        return Live(live=True, service=service)

    async def readiness(call: Call[Empty]) -> Ready | Answer[Ready]:
        if (code := await _refusal(ready)) is None:
            return Ready(ready=True, service=service)
        return Answer(Ready(ready=False, service=service, code=code), status=503)

    return [
        *(route(_endpoint(path, "Whether the process serves", Live), live) for path in LIVE_PATHS),
        *(route(_endpoint(path, "Whether the service can work; 503 if not", Ready), readiness) for path in READY_PATHS),
    ]


def _endpoint(path: str, summary: str, response: type[Res]) -> Endpoint[Empty, Res]:
    return Endpoint(
        method="GET", path=path, summary=summary, request=Empty, response=response, audience=Audience.PUBLIC
    )


async def _refusal(ready: Callable[[], Awaitable[None]]) -> str | None:
    try:
        async with asyncio.timeout(READY_WITHIN.total_seconds()):
            await ready()
    except TimeoutError:
        return Unavailable.code
    except AnvilError as error:
        log.warning("not ready", code=error.code, detail=error.detail)
        return error.code
    return None
