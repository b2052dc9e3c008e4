"""Runs one emulator for as long as anybody uses it: `python -m tests.emulator.keeper FOLDER`.

A user holds a shared lock on `FOLDER/users`, and the kernel lets it go however the user ends; so the emulator outlives
neither a session nor a crash. Its address is in `FOLDER/address` and on this process's output once it serves.
"""

import asyncio
import fcntl
import socket
import subprocess
import sys
from pathlib import Path

from services.local.emulator import warmth
from services.local.emulator.installation import command


def main(folder: Path) -> None:
    port = _free_port()
    asked = command(port)
    if asked is None:
        return
    address = folder / "address"
    with (folder / "log").open("w") as log, (folder / "users").open("w") as users:
        emulator = subprocess.Popen(asked, stdout=log, stderr=log)
        try:
            asyncio.run(warmth.served(f"127.0.0.1:{port}"))
            address.write_text(f"127.0.0.1:{port}")
            print(address.read_text(), flush=True)  # noqa: T201
            fcntl.flock(users, fcntl.LOCK_EX)
            address.unlink()
        finally:
            emulator.terminate()
            emulator.wait()


def _free_port() -> int:
    with socket.socket() as bound:
        bound.bind(("127.0.0.1", 0))
        port: int = bound.getsockname()[1]
    return port


if __name__ == "__main__":
    main(Path(sys.argv[1]))
