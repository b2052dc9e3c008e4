"""How a double serves on loopback, as a process of its own."""

import uvicorn
from starlette.types import ASGIApp

from services.local.addresses import HOST


async def serve(app: ASGIApp, *, port: int) -> None:
    """Until SIGTERM or SIGINT."""
    config = uvicorn.Config(
        app,
        host=HOST,
        port=port,
        lifespan="off",
        ws="none",
        log_level="warning",
        access_log=False,
        server_header=False,
        timeout_graceful_shutdown=1,
    )
    await uvicorn.Server(config).serve()
