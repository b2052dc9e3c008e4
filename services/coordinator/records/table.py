"""How values become documents, and documents values again.

Every document carries `schema` (a reader refuses one that it does not know) and a fresh `nonce` (a write that changes
nothing would not move the version, and so would not fence).
"""

from collections.abc import Callable, Mapping, Sequence
from copy import copy
from dataclasses import dataclass
from enum import Enum
from typing import Generic, TypeVar, cast

from pydantic import TypeAdapter, ValidationError

from services.kernel.errors import AnvilError
from services.kernel.ports import Create, Delete, Document, Ids, Ref, Replace, Snapshot, Value, Version

T = TypeVar("T")


class UnknownSchema(AnvilError):
    """A stored document has a shape that this release does not know."""


@dataclass(frozen=True, slots=True)
class Held(Generic[T]):
    """A value as it is stored at `version`."""

    value: T
    version: Version


def _plain(value: object) -> Value:
    if isinstance(value, Enum):
        return cast("Value", value.value)
    if isinstance(value, Mapping):
        entries = cast("Mapping[str, object]", value)
        return {key: _plain(entry) for key, entry in entries.items()}
    if isinstance(value, Sequence) and not isinstance(value, str | bytes):
        return [_plain(entry) for entry in cast("Sequence[object]", value)]
    return cast("Value", value)


class Table(Generic[T]):
    """One collection of documents of one type; `derived` adds fields that queries need and readers ignore."""

    def __init__(
        self, collection: str, kind: type[T], *, schema: int, derived: Callable[[T], Document] | None = None
    ) -> None:
        self.collection = collection
        self._adapter = TypeAdapter(kind)
        self._schema = schema
        self._derived = derived

    def at(self, collection: str) -> "Table[T]":
        """The same kind of documents elsewhere; costs nothing, where making a table builds a validator."""
        elsewhere = copy(self)
        elsewhere.collection = collection
        return elsewhere

    def ref(self, id_: str) -> Ref:
        return Ref(self.collection, id_)

    def create(self, id_: str, value: T, *, ids: Ids) -> Create:
        return Create(self.ref(id_), self.dump(value, ids=ids))

    def replace(self, id_: str, value: T, *, at: Version, ids: Ids) -> Replace:
        return Replace(self.ref(id_), self.dump(value, ids=ids), at)

    def delete(self, id_: str, *, at: Version) -> Delete:
        return Delete(self.ref(id_), at)

    def dump(self, value: T, *, ids: Ids) -> Document:
        fields = cast("dict[str, object]", self._adapter.dump_python(value))
        derived: Document = self._derived(value) if self._derived else {}
        stamp: Document = {"schema": self._schema, "nonce": ids.token()}
        return {name: _plain(field) for name, field in fields.items()} | dict(derived) | dict(stamp)

    def load(self, snapshot: Snapshot) -> Held[T]:
        """
        Raises:
            UnknownSchema: the document was written by a release with another shape, or by something else.
        """
        if snapshot.data.get("schema") != self._schema:
            found = snapshot.data.get("schema")
            raise UnknownSchema(f"{snapshot.ref.collection}/{snapshot.ref.id} has schema {found}, not {self._schema}")
        try:
            return Held(self._adapter.validate_python(dict(snapshot.data)), snapshot.version)
        except ValidationError as error:
            raise UnknownSchema(
                f"{snapshot.ref.collection}/{snapshot.ref.id} does not read as {self._schema}"
            ) from error

    def load_if(self, snapshot: Snapshot | None) -> Held[T] | None:
        return None if snapshot is None else self.load(snapshot)
