"""The stores that the contract is asked of, and what its tests write into them."""

from concurrent.futures import ThreadPoolExecutor
from itertools import count
from pathlib import Path
from typing import Protocol

from services.kernel.adapters import firestore_database
from services.kernel.adapters.clock import SystemClock
from services.kernel.adapters.firestore import FirestoreStore
from services.kernel.adapters.sqlite import SqliteStore
from services.kernel.ports import Document, Index, Order, Ref, Snapshot, Store, Value
from tests.contract.toy import ToyStore

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

    @property
    def commits_are_seen_whole(self) -> bool:
        """False for the emulator: for a moment it shows some documents of a commit and not yet the others, also to
        reads at one read time and in transactions, for which Firestore promises otherwise."""
        ...

    def open(self, *, namespace: str = "test") -> Store:
        """The store as one more instance sees it."""
        ...

    async def close(self) -> None: ...


class SqliteDatabase:
    commits_are_seen_whole = True

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

    async def close(self) -> None:
        for store, executor in self._opened:
            executor.shutdown()
            store.close()


class FirestoreDatabase:
    commits_are_seen_whole = False

    def __init__(self, database: firestore_database.Database) -> None:
        self._database = database
        self._opened: list[FirestoreStore] = []

    @property
    def address(self) -> str:
        return f"firestore:{self._database.project}@{self._database.emulator}"

    def open(self, *, namespace: str = "test") -> FirestoreStore:
        store = FirestoreStore(self._database, namespace=namespace, indexes=INDEXES, clock=SystemClock())
        self._opened.append(store)
        return store

    async def close(self) -> None:
        for store in self._opened:
            await store.close()


class ToyDatabase:
    """A plug-in's, which has to keep the same contract."""

    commits_are_seen_whole = True

    def __init__(self, path: Path) -> None:
        self._path = path

    @property
    def address(self) -> str:
        return f"toy:{self._path}"

    def open(self, *, namespace: str = "test") -> ToyStore:
        return ToyStore(self._path, namespace=namespace, indexes=INDEXES)

    async def close(self) -> None:
        return


def database(address: str) -> Database:
    """The database at an address that another process gave."""
    kind, _, place = address.partition(":")
    if kind == "sqlite":
        return SqliteDatabase(Path(place))
    if kind == "toy":
        return ToyDatabase(Path(place))
    project, _, emulator = place.partition("@")
    return FirestoreDatabase(firestore_database.Database(project=project, emulator=emulator))


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
