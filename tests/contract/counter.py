"""A process that counts one document up by compare-and-set: `python -m tests.contract.counter ADDRESS TIMES`.

It says each number on its standard output once the store has acknowledged it.
"""

import asyncio
import sys

from services.kernel.errors import AlreadyExists, PreconditionFailed, Unavailable
from services.kernel.ports import Create, Replace, Store
from tests.contract.stores import database, document, thing

COUNTER = thing("counter")


async def increment(store: Store) -> int | None:
    """The number after one more; None if another process was faster."""
    (found,) = await store.get([COUNTER])
    number = 1
    if found is not None:
        last = found.data["number"]
        assert isinstance(last, int)
        number = last + 1
    data = document(number=number)
    try:
        await store.commit([Create(COUNTER, data) if found is None else Replace(COUNTER, data, found.version)])
    except (AlreadyExists, PreconditionFailed, Unavailable):
        return None
    return number


async def main(address: str, times: int) -> None:
    opened = database(address)
    store = opened.open()
    while times:
        if (number := await increment(store)) is not None:
            sys.stdout.write(f"{number}\n")
            sys.stdout.flush()
            times -= 1
    await opened.close()


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], int(sys.argv[2])))
