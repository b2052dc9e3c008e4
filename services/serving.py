"""How gunicorn serves a service, wherever it runs: `gunicorn --config python:services.serving SERVICE`.

One worker, for one vCPU. Nothing is loaded before the fork, because a gRPC client does not survive it (`preload_app`
stays off). On SIGTERM the requests in flight get their answers; then the lifespan ends, and with it what it holds.
Cloud Run kills after 10 s.
"""

from uvicorn_worker import UvicornWorker  # type: ignore[import-untyped]  # pyright: ignore[reportMissingTypeStubs]

ANSWERED_WITHIN = 6
"""Seconds after SIGTERM by which a request is answered or cancelled, so that some are left for the lifespan's end."""


class Worker(UvicornWorker):  # type: ignore[misc]
    # With the lifespan on "auto", a start that fails would be taken for an application without a lifespan.
    CONFIG_KWARGS: dict[str, object] = {  # noqa: RUF012 (uvicorn declares it)
        "loop": "uvloop",
        "http": "httptools",
        "lifespan": "on",
        "timeout_graceful_shutdown": ANSWERED_WITHIN,
    }


worker_class = "services.serving.Worker"
workers = 1
graceful_timeout = 8
control_socket_disable = True
