"""Real servers on free loopback ports, in the test's own event loop."""

import asyncio
import socket
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

import uvicorn
from starlette.types import ASGIApp


@asynccontextmanager
async def served(*apps: ASGIApp, port: int = 0) -> AsyncGenerator[list[str]]:
    """The apps' URLs while they are served; `port` is for a single one that must be found where it was."""
    sockets = [_listening(port) for _ in apps]
    servers = [uvicorn.Server(_config(app)) for app in apps]
    pairs = zip(servers, sockets, strict=True)
    serving = [asyncio.create_task(server.serve(sockets=[bound])) for server, bound in pairs]
    try:
        yield [f"http://127.0.0.1:{bound.getsockname()[1]}" for bound in sockets]
    finally:
        for server in servers:
            server.should_exit = True
        await asyncio.gather(*serving)


def _listening(port: int) -> socket.socket:
    """It listens from here on: a request that comes before the server does waits for it."""
    bound = socket.socket()
    bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    bound.bind(("127.0.0.1", port))
    bound.listen()
    return bound


def _config(app: ASGIApp) -> uvicorn.Config:
    return uvicorn.Config(
        app, lifespan="off", ws="none", log_config=None, access_log=False, timeout_graceful_shutdown=0
    )
