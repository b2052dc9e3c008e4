"""What Firestore is asked: reads, conditional writes and queries as its request messages.

Paths here are stored paths; `database` is the database's full name.
"""

from collections.abc import Sequence

from google.cloud.firestore_v1.field_path import FieldPath
from google.cloud.firestore_v1.types.firestore import BatchGetDocumentsRequest, CommitRequest, RunQueryRequest
from google.cloud.firestore_v1.types.query import StructuredQuery

from services.kernel.adapters.firestore_messages import Message, new, wrap
from services.kernel.adapters.firestore_values import message_of, put_fields, put_version
from services.kernel.errors import PreconditionFailed
from services.kernel.ports import Create, Delete, Document, Op, Query, Ref, Replace, Version, Where, Write

_ID = "__name__"

_OPERATORS = {
    Op.EQUAL: StructuredQuery.FieldFilter.Operator.EQUAL,
    Op.LESS: StructuredQuery.FieldFilter.Operator.LESS_THAN,
    Op.AT_MOST: StructuredQuery.FieldFilter.Operator.LESS_THAN_OR_EQUAL,
    Op.AT_LEAST: StructuredQuery.FieldFilter.Operator.GREATER_THAN_OR_EQUAL,
}


def name_of(database: str, ref: Ref) -> str:
    return f"{database}/documents/{ref.collection}/{ref.id}"


def read(database: str, refs: Sequence[Ref], *, fields: Sequence[str] | None) -> BatchGetDocumentsRequest:
    """A read of each document once, whole or only the fields named."""
    request = new(BatchGetDocumentsRequest, database=database)
    request.documents.extend(dict.fromkeys(name_of(database, ref) for ref in refs))
    if fields is not None:
        request.mask.field_paths.extend(_mask(fields))
    return wrap(BatchGetDocumentsRequest, request)


def commit(database: str, writes: Sequence[Write]) -> CommitRequest:
    """All the writes, each on its condition.

    Raises:
        PreconditionFailed: a write names a version that this store never gave.
    """
    request = new(CommitRequest, database=database)
    for write in writes:
        _put_write(database, write, request.writes.add())
    return wrap(CommitRequest, request)


def query(database: str, asked: Query, *, collection: str) -> RunQueryRequest:
    """The matching documents, ordered to the last tie, from after the cursor on."""
    parent, _, name = f"{database}/documents/{collection}".rpartition("/")
    request = new(RunQueryRequest, parent=parent, structured_query={"from_": [{"collection_id": name}]})
    structured = request.structured_query
    if asked.fields is not None:
        for path in _mask(asked.fields):
            structured.select.fields.add(field_path=path)
    for where in asked.where:
        structured.where.composite_filter.op = StructuredQuery.CompositeFilter.Operator.AND
        _put_condition(where, structured.where.composite_filter.filters.add())
    for path, descending in _order(asked):
        direction = StructuredQuery.Direction.DESCENDING if descending else StructuredQuery.Direction.ASCENDING
        structured.order_by.add(field={"field_path": path}, direction=direction)
    structured.limit.value = asked.limit
    if asked.after is not None:
        structured.start_at.values.extend(message_of(value) for value in asked.after.values)
        structured.start_at.values.add(reference_value=name_of(database, Ref(collection, asked.after.id)))
    return wrap(RunQueryRequest, request)


def _mask(fields: Sequence[str]) -> list[str]:
    """Field paths; an empty mask would mean the whole document."""
    return [_path(field) for field in fields] or [_ID]


def _order(asked: Query) -> list[tuple[str, bool]]:
    """Field paths and whether they descend; the id settles ties, in the last direction."""
    last = asked.order[-1].descending if asked.order else False
    return [*((_path(order.field), order.descending) for order in asked.order), (_ID, last)]


def _put_condition(where: Where, message: Message) -> None:
    """Firestore has null in no comparison; that a field is null is a condition of its own."""
    if where.value is None:
        message.unary_filter.field.field_path = _path(where.field)
        message.unary_filter.op = StructuredQuery.UnaryFilter.Operator.IS_NULL
        return
    message.field_filter.field.field_path = _path(where.field)
    message.field_filter.op = _OPERATORS[where.op]
    message.field_filter.value.CopyFrom(message_of(where.value))


def _put_write(database: str, write: Write, message: Message) -> None:
    """A write without a mask replaces the whole document."""
    match write:
        case Create(data=data):
            message.current_document.exists = False
            _put_document(database, write.ref, data, message.update)
        case Replace(data=data, if_version=version):
            _put_expectation(version, message.current_document)
            _put_document(database, write.ref, data, message.update)
        case Delete(if_version=version):
            _put_expectation(version, message.current_document)
            message.delete = name_of(database, write.ref)


def _put_document(database: str, ref: Ref, data: Document, message: Message) -> None:
    message.name = name_of(database, ref)
    put_fields(data, message.fields)


def _put_expectation(version: Version, message: Message) -> None:
    try:
        put_version(version, message.update_time)
    except ValueError as error:
        raise PreconditionFailed(f"No document of this store ever was at version {version!r}.") from error


def _path(field: str) -> str:
    """The field's name as a path of one step, whatever characters it has."""
    return FieldPath(field).to_api_repr()
