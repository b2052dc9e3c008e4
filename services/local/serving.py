"""gunicorn's configuration in a local stack: a server does not outlive its supervisor, however that one ends."""

from services.local import tied
from services.serving import control_socket_disable, graceful_timeout, post_fork, worker_class, workers

__all__ = ["control_socket_disable", "graceful_timeout", "on_starting", "post_fork", "worker_class", "workers"]


def on_starting(_: object) -> None:
    """gunicorn ends its workers as on any SIGTERM."""
    tied.to_parent()
