"""gunicorn's configuration in a local stack: a server does not outlive its supervisor, however that one ends."""

import ctypes
import signal

PR_SET_PDEATHSIG = 1


def on_starting(_: object) -> None:
    """Ask the kernel for SIGTERM when the parent is gone; gunicorn then ends its workers as on any SIGTERM."""
    ctypes.CDLL(None, use_errno=True).prctl(PR_SET_PDEATHSIG, signal.SIGTERM)
