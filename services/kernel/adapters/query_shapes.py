"""Declared query shapes: which queries a store may be asked, the same for every store.

A shape is the collection's pattern, the set of fields compared for equality and the list of fields to order by; a
query must have exactly a declared one (also where Firestore would do without an index). A range needs to be on the
first field of the order.
"""

from collections.abc import Sequence
from dataclasses import replace
from functools import cache

import orjson

from services.kernel.adapters.document_rules import check_collection, check_value
from services.kernel.errors import Invalid
from services.kernel.namespace import stored_collection
from services.kernel.ports import Index, Op, Order, Query


class Declared:
    """The shapes that one namespace's queries may have, on stored collections."""

    def __init__(self, indexes: Sequence[Index], *, namespace: str) -> None:
        self._namespace = namespace
        self.indexes = frozenset(
            replace(index, collection=stored_collection(namespace, index.collection)) for index in indexes
        )

    def index_for(self, query: Query) -> Index:
        """The declared index that answers the query.

        Raises:
            Invalid: the query makes no sense.
            LookupError: its shape is not declared.
        """
        _check(query)
        index = _shape(query, stored_collection(self._namespace, query.collection))
        if index not in self.indexes:
            raise LookupError(f"No index is declared for {query.collection}: {dump(index)}.")
        return index


def pattern(collection: str) -> str:
    """The collection's path with every document id replaced by `*`."""
    return "/".join("*" if place % 2 else segment for place, segment in enumerate(collection.split("/")))


def dump(index: Index) -> str:
    """The index as canonical text."""
    order = [[order.field, order.descending] for order in index.order]
    return orjson.dumps([index.collection, sorted(index.equal), order]).decode()


@cache
def load(text: str) -> Index:
    """What `dump` made; kept, for every write asks for all of the few that there are."""
    collection, equal, order = orjson.loads(text)
    return Index(collection=collection, equal=frozenset(equal), order=tuple(Order(*each) for each in order))


def _check(query: Query) -> None:
    check_collection(query.collection)
    if query.limit < 1:
        raise Invalid(f"A query asks for at least one document, not {query.limit}.")
    for where in query.where:
        check_value(where.value)
    if (cursor := query.after) is None:
        return
    if len(cursor.values) != len(query.order):
        raise Invalid(f"The cursor has {len(cursor.values)} values for {len(query.order)} fields to order by.")
    for value in cursor.values:
        check_value(value)


def _shape(query: Query, collection: str) -> Index:
    """The index that the query needs, if it is a possible one at all."""
    equal = [where.field for where in query.where if where.op is Op.EQUAL]
    first = query.order[0].field if query.order else None
    if any(where.op is not Op.EQUAL and where.field != first for where in query.where):
        raise LookupError(f"A range in {query.collection} must be on the first field to order by.")
    if len(set(equal)) != len(equal):
        raise LookupError(f"A field of {query.collection} is compared for equality twice.")
    return Index(collection=pattern(collection), equal=frozenset(equal), order=query.order)
