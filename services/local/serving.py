"""gunicorn's configuration in a local stack: no server outlives its supervisor, and nothing outlives its server."""

import ctypes

from services.local import tied
from services.serving import control_socket_disable, graceful_timeout, keepalive, post_fork, worker_class, workers

__all__ = [
    "control_socket_disable",
    "graceful_timeout",
    "keepalive",
    "on_starting",
    "post_fork",
    "worker_class",
    "workers",
]

PR_SET_CHILD_SUBREAPER = 36


def on_starting(_: object) -> None:
    """gunicorn ends its workers as on any SIGTERM.

    It inherits the orphans of a killed worker, as it does in a container, where it is PID 1; the next worker ends them.
    """
    tied.to_parent()
    ctypes.CDLL(None, use_errno=True).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
