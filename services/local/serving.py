"""gunicorn's configuration in a local stack: no server outlives its supervisor, and nothing outlives its server."""

import ctypes
import signal

PR_SET_PDEATHSIG = 1
PR_SET_CHILD_SUBREAPER = 36


def on_starting(_: object) -> None:
    """Ask the kernel for SIGTERM when the parent is gone, and for the orphans of killed workers, as PID 1 gets them.

    gunicorn ends its workers on that SIGTERM as on any; the next worker ends what a killed runner left.
    """
    libc = ctypes.CDLL(None, use_errno=True)
    libc.prctl(PR_SET_PDEATHSIG, signal.SIGTERM)
    libc.prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
