"""The stores that the contract is asked of, and what its tests write into them."""

from concurrent.futures import ThreadPoolExecutor
from itertools import count
from pathlib import Path
from typing import Protocol

from services.kernel.adapters.clock import SystemClock
from services.kernel.adapters.sqlite import SqliteStore
from services.kernel.ports import Document, Index, Order, Ref, Snapshot, Store, Value

INDEXES = (
    Index(collection="things"),
    Index(collection="things", equal=frozenset({"color"})),
    Index(collection="things", equal=frozenset({"color"}), order=(Order("rank"),)),
    Index(collection="things", order=(Order("rank"),)),
    Index(collection="things", order=(Order("rank", descending=True),)),
    Index(collection="things", order=(Order("rank"), Order("name", descending=True))),
    Index(collection="runs/*/log", order=(Order("seq"),)),
)

_nonces = count()


class Database(Protocol):
    """A database that several instances of a service use at once."""

    @property
    def address(self) -> str:
        """What another process needs to find it: the name of its kind, a colon, and where it is."""
        ...

    def open(self, *, namespace: str = "test") -> Store:
        """The store as one more instance sees it."""
        ...

    def close(self) -> None: ...


class SqliteDatabase:
    def __init__(self, path: Path) -> None:
        self._path = path
        self._opened: list[tuple[SqliteStore, ThreadPoolExecutor]] = []

    @property
    def address(self) -> str:
        return f"sqlite:{self._path}"

    def open(self, *, namespace: str = "test") -> SqliteStore:
        executor = ThreadPoolExecutor(4)
        store = SqliteStore(self._path, namespace=namespace, indexes=INDEXES, executor=executor, clock=SystemClock())
        self._opened.append((store, executor))
        return store

    def close(self) -> None:
        for store, executor in self._opened:
            executor.shutdown()
            store.close()


def database(address: str) -> Database:
    """The database at an address that another process gave."""
    kind, _, place = address.partition(":")
    assert kind == "sqlite"
    return SqliteDatabase(Path(place))


def thing(name: str) -> Ref:
    return Ref("things", name)


def document(**fields: Value) -> dict[str, Value]:
    """A document with a fresh nonce, as every write must carry one."""
    return {"nonce": f"n{next(_nonces)}", **fields}


def content(data: Document) -> dict[str, Value]:
    """What a document says, without its nonce."""
    return {name: value for name, value in data.items() if name != "nonce"}


async def read(store: Store, ref: Ref) -> Snapshot:
    """The document, which must be there."""
    (found,) = await store.get([ref])
    assert found is not None, ref
    return found
