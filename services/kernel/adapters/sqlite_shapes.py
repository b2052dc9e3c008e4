"""Declared query shapes: the key of a document in an index, and the span of keys that answers a query.

A shape is the collection's pattern, the set of fields compared for equality and the list of fields to order by; a
query must have exactly a declared one (also where Firestore would do without an index). A range needs to be on the
first field of the order. A key is collection, equality values, order values, id: so every query is one range scan.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import orjson

from services.kernel.adapters import sqlite_keys as keys
from services.kernel.errors import Invalid
from services.kernel.ports import Cursor, Document, Index, Op, Order, Query, Ref, Value, Where


@dataclass(frozen=True, slots=True, kw_only=True)
class Span:
    """Keys from `low` up to, not including, `high`."""

    low: bytes
    high: bytes

    def within(self, other: "Span") -> "Span":
        return Span(low=max(self.low, other.low), high=min(self.high, other.high))


def pattern(collection: str) -> str:
    """The collection's path with every document id replaced by `*`."""
    return "/".join("*" if place % 2 else segment for place, segment in enumerate(collection.split("/")))


def dump(index: Index) -> str:
    """The index as canonical text."""
    order = [[order.field, order.descending] for order in index.order]
    return orjson.dumps([index.collection, sorted(index.equal), order]).decode()


def load(text: str) -> Index:
    collection, equal, order = orjson.loads(text)
    return Index(collection=collection, equal=frozenset(equal), order=tuple(Order(*each) for each in order))


def shape(query: Query, collection: str) -> Index:
    """The index that the query needs, if it is a possible one at all.

    Raises:
        LookupError: no index can answer it.
    """
    equal = [where.field for where in query.where if where.op is Op.EQUAL]
    first = query.order[0].field if query.order else None
    if any(where.op is not Op.EQUAL and where.field != first for where in query.where):
        raise LookupError(f"A range in {query.collection} must be on the first field to order by.")
    if len(set(equal)) != len(equal):
        raise LookupError(f"A field of {query.collection} is compared for equality twice.")
    return Index(collection=pattern(collection), equal=frozenset(equal), order=query.order)


def key(index: Index, ref: Ref, data: Document) -> bytes | None:
    """The document's place in the index; None if it lacks one of the index's fields."""
    fields = [*sorted(index.equal), *(order.field for order in index.order)]
    if any(field not in data for field in fields):
        return None
    equal = _prefix(ref.collection, [data[field] for field in sorted(index.equal)])
    return equal + _place(index.order, [data[order.field] for order in index.order], ref.id)


def span(index: Index, query: Query, collection: str) -> Span:
    """The keys of the documents that match and come after the cursor."""
    equal = {where.field: where.value for where in query.where if where.op is Op.EQUAL}
    prefix = _prefix(collection, [equal[field] for field in sorted(equal)])
    found = Span(low=prefix, high=keys.after(prefix))
    for where in query.where:
        if where.op is not Op.EQUAL:
            found = found.within(_range(prefix, where, descending=index.order[0].descending))
    if query.after is not None:
        found = found.within(Span(low=prefix + _cursor(index.order, query.after) + b"\x00", high=found.high))
    return found


def _prefix(collection: str, equal: Sequence[Value]) -> bytes:
    return keys.encode(collection) + b"".join(keys.encode(value) for value in equal)


def _place(order: Sequence[Order], values: Sequence[Value], document: str) -> bytes:
    directions = [each.descending for each in order] + [order[-1].descending if order else False]
    parts = zip([*values, document], directions, strict=True)
    return b"".join(keys.encode(value, descending=descending) for value, descending in parts)


def _cursor(order: Sequence[Order], cursor: Cursor) -> bytes:
    if len(cursor.values) != len(order):
        raise Invalid(f"The cursor has {len(cursor.values)} values for {len(order)} fields to order by.")
    return _place(order, cursor.values, cursor.id)


def _range(prefix: bytes, where: Where, *, descending: bool) -> Span:
    """Keys whose next value has the type of the condition's value and satisfies it; null satisfies nothing."""
    if where.value is None:
        return Span(low=prefix, high=prefix)
    kind = prefix + keys.tag(where.value, descending=descending)
    exact = prefix + keys.encode(where.value, descending=descending)
    before, behind = Span(low=kind, high=exact), Span(low=keys.after(exact), high=keys.after(kind))
    match where.op, descending:
        case (Op.LESS, False):
            return before
        case (Op.LESS, True):
            return behind
        case (Op.AT_MOST, False) | (Op.AT_LEAST, True):
            return Span(low=before.low, high=behind.low)
        case _:
            return Span(low=before.high, high=behind.high)
