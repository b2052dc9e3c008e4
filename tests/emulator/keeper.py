"""Runs one emulator for as long as anybody uses it: `python -m tests.emulator.keeper FOLDER`.

A user holds a shared lock on `FOLDER/users`, and the kernel lets it go however the user ends; so the emulator outlives
neither a session nor a crash. Its address is in `FOLDER/address` and on this process's output once it serves.
"""

import asyncio
import fcntl
import socket
import subprocess
import sys
from datetime import timedelta
from pathlib import Path

from services.kernel.adapters.clock import SystemClock
from services.kernel.adapters.firestore import FirestoreStore
from services.kernel.adapters.firestore_database import Database
from services.kernel.errors import Transient
from services.kernel.ports import Create, Ref
from tests.emulator.installation import command

PATIENCE = 60
PAUSE = timedelta(seconds=0.1)


def main(folder: Path) -> None:
    port = _free_port()
    asked = command(port)
    if asked is None:
        return
    with (folder / "log").open("w") as log, (folder / "users").open("w") as users:
        emulator = subprocess.Popen(asked, stdout=log, stderr=log)
        try:
            asyncio.run(_serving(emulator, f"127.0.0.1:{port}"))
            (folder / "address").write_text(f"127.0.0.1:{port}")
            print(f"127.0.0.1:{port}", flush=True)  # noqa: T201
            fcntl.flock(users, fcntl.LOCK_EX)
            (folder / "address").unlink()
        finally:
            emulator.terminate()
            emulator.wait()


async def _serving(emulator: subprocess.Popen[bytes], address: str) -> None:
    """Return once it has read and written: the first calls of a cold emulator take longer than a store waits."""
    clock = SystemClock()
    store = FirestoreStore(Database(project="demo-warm", emulator=address), namespace="warm", indexes=(), clock=clock)
    async with asyncio.timeout(PATIENCE):
        while emulator.poll() is None:
            try:
                await store.get([Ref("warm", "0")])
                await store.commit([Create(Ref("warm", str(clock.elapsed())), {"nonce": "n"})])
            except Transient:
                await clock.sleep(PAUSE)
            else:
                break
    await store.close()


def _free_port() -> int:
    with socket.socket() as bound:
        bound.bind(("127.0.0.1", 0))
        port: int = bound.getsockname()[1]
    return port


if __name__ == "__main__":
    main(Path(sys.argv[1]))
