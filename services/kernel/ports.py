"""What Anvil asks of the world outside it; adapters answer it.

**Store.** Three methods and no more. A `commit` is atomic and unconditional writes do not exist: every write names the
state it expects, so a lost race changes nothing. No adapter retries a write: `Unavailable` means not applied,
`Ambiguous` means perhaps applied, and the caller reads back. Every document is written with a fresh `nonce`, because a
write that changes nothing does not move a version. Any number of callers in any number of processes.

**TaskQueue.** At least once, in any order, perhaps late. A task only says "look at this"; losing it changes nothing.

**Clock, Ids.** The only sources of time and randomness, so that a test can move the one and repeat the other.

**Resolver.** What names stand for. Two answers may differ: whoever judges an answer connects to what was judged.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import StrEnum
from typing import NewType, Protocol, TypeAlias

from services.kernel.addresses import Address

Value: TypeAlias = "None | bool | int | float | str | bytes | datetime | Sequence[Value] | Mapping[str, Value]"
Document: TypeAlias = Mapping[str, Value]

Version = NewType("Version", str)
"""Opaque text of the store's full-precision update time; compared for equality only."""


@dataclass(frozen=True, slots=True)
class Ref:
    """Names a document: a collection path (`runs`, or `runs/{run}/log`) and an id in it."""

    collection: str
    id: str

    def under(self, name: str, child: str) -> "Ref":
        """A document in this document's own collection `name`."""
        return Ref(f"{self.collection}/{self.id}/{name}", child)


@dataclass(frozen=True, slots=True, kw_only=True)
class Snapshot:
    """A document as it was at `version`. With a field mask, `data` holds the asked fields that exist."""

    ref: Ref
    version: Version
    data: Document


@dataclass(frozen=True, slots=True)
class Create:
    """Write a document that must not exist yet."""

    ref: Ref
    data: Document


@dataclass(frozen=True, slots=True)
class Replace:
    """Write the whole document anew; fields not in `data` are gone."""

    ref: Ref
    data: Document
    if_version: Version


@dataclass(frozen=True, slots=True)
class Delete:
    """Remove a document at exactly this version."""

    ref: Ref
    if_version: Version


Write: TypeAlias = Create | Replace | Delete


class Op(StrEnum):
    EQUAL = "=="
    LESS = "<"
    AT_MOST = "<="
    AT_LEAST = ">="


@dataclass(frozen=True, slots=True)
class Where:
    """A condition on one field; a document without the field, or with another type in it, does not match."""

    field: str
    op: Op
    value: Value


@dataclass(frozen=True, slots=True)
class Order:
    field: str
    descending: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Index:
    """A query shape that may be asked: equality fields, then at most one range field, which is the first to order by.

    `collection` is the path with `*` for document ids (`runs/*/log`). Adapters refuse an undeclared shape, and the
    deployment creates the indexes from the same list.
    """

    collection: str
    equal: frozenset[str] = frozenset()
    order: tuple[Order, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Cursor:
    """A place in an ordered result: the order fields' values of the last document seen, and its id."""

    values: tuple[Value, ...]
    id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Query:
    """Documents of one collection. Ties are broken by id, in the last order field's direction (ascending if none).

    With `fields`, only those of each document are read.
    """

    collection: str
    where: tuple[Where, ...] = ()
    order: tuple[Order, ...] = ()
    limit: int = 100
    after: Cursor | None = None
    fields: tuple[str, ...] | None = None


class Store(Protocol):
    async def get(self, refs: Sequence[Ref], *, fields: Sequence[str] | None = None) -> list[Snapshot | None]:
        """Read documents in one round trip, all as of one moment, in the order asked; None where there is none.

        Raises:
            Unavailable: the store did not answer.
        """
        ...

    async def commit(self, writes: Sequence[Write]) -> list[Version]:
        """Apply all writes or none; one version a write, in order (a deletion's version means nothing).

        Raises:
            AlreadyExists: a `Create` met a document.
            PreconditionFailed: a `Replace` or `Delete` met another version, or no document.
            Unavailable: nothing was applied.
            Ambiguous: perhaps applied.
            Invalid: a document that no store would take (size, id, depth, two writes to one document).
        """
        ...

    async def query(self, query: Query) -> list[Snapshot]:
        """At most `query.limit` matching documents, in order.

        Raises:
            Unavailable: the store did not answer.
            LookupError: the query's shape is not declared.
        """
        ...


class Target(StrEnum):
    """Who a task is for."""

    COORDINATOR = "coordinator"
    RUNNER = "runner"


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """A POST of `body` as JSON to `path` of the target, not before `not_before` (None: at once).

    `name` only saves work: two tasks of one name in a short time may be delivered once. `trace` is the `traceparent` of
    whoever asked for it.
    """

    target: Target
    path: str
    body: Mapping[str, Value]
    name: str
    not_before: datetime | None = None
    trace: str | None = None


class TaskQueue(Protocol):
    async def enqueue(self, task: Task) -> None:
        """Take the task. A name taken before is a success.

        Raises:
            TaskRejected: the queue refuses this task as it is.
            Unavailable: not taken.
            Ambiguous: perhaps taken; the same name may be enqueued again.
        """
        ...


class Clock(Protocol):
    def now(self) -> datetime:
        """The wall clock, aware, UTC."""
        ...

    def elapsed(self) -> timedelta:
        """Time since some fixed moment; never goes back, not even when the wall clock does."""
        ...

    async def sleep(self, duration: timedelta) -> None:
        """Let others work for at least this long."""
        ...


class Ids(Protocol):
    def unique(self) -> int:
        """128 bits, different each time, that sort by time of creation (a UUIDv7)."""
        ...

    def token(self) -> str:
        """128 random bits as 22 URL-safe characters: for what grants something."""
        ...

    def fraction(self) -> float:
        """A random number from 0 up to, not including, 1: for jitter."""
        ...


@dataclass(frozen=True, slots=True)
class IdentityToken:
    """A signed token for one audience, and when it stops being valid."""

    value: str = field(repr=False)
    expires_at: datetime


class Minter(Protocol):
    async def mint(self, audience: str) -> IdentityToken:
        """An identity token of this service for `audience`.

        Raises:
            Unavailable: the issuer did not answer.
        """
        ...


class Resolver(Protocol):
    async def resolve(self, host: str) -> Sequence[Address]:
        """Every address that the name stands for now, the best first; at least one.

        Raises:
            Unavailable: there is none, or nobody knows.
        """
        ...
