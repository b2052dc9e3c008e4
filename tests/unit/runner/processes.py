"""What the kernel says of a process."""

from pathlib import Path


def is_alive(pid: int) -> bool:
    """Whether the process still runs; one that has ended but is not reaped does not."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return False
    return stat.rpartition(")")[2].split()[0] != "Z"
