"""How gunicorn serves a service, wherever it runs: `gunicorn --config python:services.serving SERVICE`.

One worker, for one vCPU. Nothing is loaded before the fork, because a gRPC client does not survive it (`preload_app`
stays off). On SIGTERM the requests in flight get their answers; then the lifespan ends, and with it what it holds.
Cloud Run kills after 10 s.
"""

from typing import Protocol

import uvicorn

ANSWERED_WITHIN = 6
"""Seconds after SIGTERM by which a request is answered or cancelled, so that some are left for the lifespan's end."""

worker_class = "uvicorn_worker.UvicornWorker"
workers = 1
graceful_timeout = 8
keepalive = 30  # Seconds; longer than our clients keep idle connections (5), who would else send on one that closes.
control_socket_disable = True


class UvicornWorker(Protocol):
    config: uvicorn.Config


def post_fork(_: object, worker: UvicornWorker) -> None:
    """Tell uvicorn what gunicorn has no settings for."""
    # On "auto" a start that fails would be taken for that of an application without a lifespan.
    worker.config.lifespan = "on"
    worker.config.timeout_graceful_shutdown = ANSWERED_WITHIN
