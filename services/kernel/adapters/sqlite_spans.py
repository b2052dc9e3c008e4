"""Query shapes as ordered bytes: the key of a document in an index, and the span of keys that answers a query.

A key is collection, equality values, order values, id: so every query is one range scan.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from services.kernel.adapters import sqlite_keys as keys
from services.kernel.ports import Document, Index, Op, Order, Query, Ref, Value, Where


@dataclass(frozen=True, slots=True, kw_only=True)
class Span:
    """Keys from `low` up to, not including, `high`."""

    low: bytes
    high: bytes

    def within(self, other: "Span") -> "Span":
        return Span(low=max(self.low, other.low), high=min(self.high, other.high))


def key_of(index: Index, ref: Ref, data: Document) -> bytes | None:
    """The document's place in the index; None if it lacks one of the index's fields."""
    fields = [*sorted(index.equal), *(order.field for order in index.order)]
    if any(field not in data for field in fields):
        return None
    equal = _prefix(ref.collection, [data[field] for field in sorted(index.equal)])
    return equal + _place(index.order, [data[order.field] for order in index.order], ref.id)


def span_of(index: Index, query: Query, collection: str) -> Span:
    """The keys of the documents that match and come after the cursor."""
    equal = {where.field: where.value for where in query.where if where.op is Op.EQUAL}
    prefix = _prefix(collection, [equal[field] for field in sorted(equal)])
    found = Span(low=prefix, high=keys.after(prefix))
    for where in query.where:
        if where.op is not Op.EQUAL:
            found = found.within(_range(prefix, where, descending=index.order[0].descending))
    if query.after is not None:
        seen = prefix + _place(index.order, query.after.values, query.after.id)
        found = found.within(Span(low=seen + b"\x00", high=found.high))
    return found


def _prefix(collection: str, equal: Sequence[Value]) -> bytes:
    return keys.encode(collection) + b"".join(keys.encode(value) for value in equal)


def _place(order: Sequence[Order], values: Sequence[Value], document: str) -> bytes:
    directions = [each.descending for each in order] + [order[-1].descending if order else False]
    parts = zip([*values, document], directions, strict=True)
    return b"".join(keys.encode(value, descending=descending) for value, descending in parts)


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
