"""Ends a process with its parent, however that one ends: `python -m services.local.tied COMMAND …` for any command."""

import ctypes
import os
import signal
import sys

PR_SET_PDEATHSIG = 1


def to_parent() -> None:
    """Ask the kernel for SIGTERM when the parent is gone. This outlives the exec of another program."""
    ctypes.CDLL(None, use_errno=True).prctl(PR_SET_PDEATHSIG, signal.SIGTERM)


if __name__ == "__main__":
    to_parent()
    os.execvp(sys.argv[1], sys.argv[1:])
