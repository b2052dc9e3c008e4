"""Waits until an emulator has read and written: `python -m services.local.emulator.warmth HOST:PORT`.

The first calls of a cold one take longer than a store waits.
"""

import asyncio
import sys
from datetime import timedelta

from services.kernel.adapters.clock import SystemClock
from services.kernel.adapters.firestore import FirestoreStore
from services.kernel.adapters.firestore_database import Database
from services.kernel.errors import Transient
from services.kernel.ports import Create, Ref

PATIENCE = 60
PAUSE = timedelta(seconds=0.1)


async def served(address: str) -> None:
    """Return once it has.

    Raises:
        TimeoutError: it did not within a minute.
    """
    clock = SystemClock()
    database = Database(project="demo-warmth", emulator=address)
    store = FirestoreStore(database, namespace="warmth", indexes=(), clock=clock)
    async with asyncio.timeout(PATIENCE):
        while True:
            try:
                await store.get([Ref("calls", "0")])
                await store.commit([Create(Ref("calls", str(clock.now())), {"nonce": "n"})])
            except Transient:
                await clock.sleep(PAUSE)
            else:
                break
    await store.close()


if __name__ == "__main__":
    asyncio.run(served(sys.argv[1]))
