"""Liveness and readiness, alike in every service."""

import asyncio
from collections.abc import Awaitable, Callable
from datetime import timedelta

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from services.kernel.errors import AnvilError, Unavailable
from services.kernel.log import get_logger

log = get_logger(__name__)

READY_WITHIN = timedelta(seconds=3)
_HEADERS = {"Cache-Control": "no-store"}


def health(service: str, ready: Callable[[], Awaitable[None]]) -> list[Route]:
    """`ready` raises what keeps the service from working; the code of that is all that is said."""

    async def live(request: Request) -> Response:
        return JSONResponse({"live": True, "service": service}, headers=_HEADERS)

    async def readiness(request: Request) -> Response:
        if (code := await _refusal(ready)) is None:
            return JSONResponse({"ready": True, "service": service}, headers=_HEADERS)
        return JSONResponse({"ready": False, "service": service, "code": code}, status_code=503, headers=_HEADERS)

    # The front of Cloud Run may keep paths that end in z for itself: hence the aliases.
    return [
        Route("/livez", live),
        Route("/health/live", live),
        Route("/readyz", readiness),
        Route("/health/ready", readiness),
    ]


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
