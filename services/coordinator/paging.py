"""Lists by age, page by page: one query a page, with a token for where the next page goes on.

A token is opaque to clients and good for its own list alone: the same collection, order and filters. A document that
cannot be read is left out of its list and logged: it must not take the others with it.
"""

import base64
from collections.abc import Callable, Generator, Iterable, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from re import DOTALL, fullmatch
from typing import Final, TypeVar

import orjson
from pydantic import ValidationError

from services.coordinator.records.table import UnknownSchema
from services.kernel.errors import FieldProblem, Invalid
from services.kernel.ids import fingerprint
from services.kernel.log import get_logger
from services.kernel.ports import Cursor, Op, Order, Query, Snapshot, Where
from services.kernel.wire.model import Page, PageQuery

Item = TypeVar("Item")

log = get_logger(__name__)

_BEFORE_ALL: Final = datetime(1970, 1, 1, tzinfo=UTC)


def query(
    collection: str,
    asked: PageQuery,
    *,
    by: Order,
    where: Iterable[Where] = (),
    fields: tuple[str, ...] | None = None,
) -> Query:
    """What to ask of the store for that page, and for one document more; `by` is a time.

    Raises:
        Invalid: the page token is not one of this list.
    """
    conditions = tuple(where)
    if all(condition.field != by.field for condition in conditions):
        # What has no time there could not be read, and no token could go on from it.
        conditions = (*conditions, Where(by.field, Op.AT_LEAST, _BEFORE_ALL))
    whole = Query(collection=collection, where=conditions, order=(by,), limit=asked.page_size + 1, fields=fields)
    return whole if asked.page_token is None else replace(whole, after=_cursor(asked.page_token, _list(whole)))


def page(whole: Query, found: Sequence[Snapshot], show: Callable[[Snapshot], Item]) -> Page[Item]:
    """The page that `found` answers. It has fewer items than asked for if some cannot be read."""
    size = whole.limit - 1
    items = tuple(readable(found[:size], show))
    return Page(items=items, next_page_token=_token(whole, found[size - 1]) if len(found) > size else None)


def readable(found: Iterable[Snapshot], show: Callable[[Snapshot], Item]) -> Generator[Item]:
    """Each document as `show` shows it, but for those that this release does not know how to read."""
    for snapshot in found:
        try:
            item = show(snapshot)
        except (UnknownSchema, ValidationError):
            said = "a document that cannot be read is left out of a list"
            log.error(said, collection=snapshot.ref.collection, document=snapshot.ref.id)
        else:
            yield item


def refused() -> Invalid:
    """A page token that is not one of the list."""
    problem = FieldProblem(field="pageToken", message="not a token of this list")
    return Invalid("the page token is not one of this list", fields=(problem,))


def _list(whole: Query) -> str:
    """Which list it is, whatever the page."""
    conditions = (part for each in whole.where for part in (each.field, each.op, str(each.value)))
    return fingerprint(whole.collection, *(each.field for each in whole.order), *conditions)[:16]


def _token(whole: Query, last: Snapshot) -> str:
    moment = last.data[whole.order[0].field]
    if not isinstance(moment, datetime):
        raise TypeError(f"{last.ref.collection}/{last.ref.id} has no time in {whole.order[0].field}")
    return _encoded(_list(whole), moment, last.ref.id)


def _encoded(of: str, moment: datetime, id_: str) -> str:
    return base64.urlsafe_b64encode(orjson.dumps([of, moment.isoformat(), id_])).decode()


def _cursor(given: str, of: str) -> Cursor:
    try:
        [found, text, id_] = orjson.loads(base64.urlsafe_b64decode(given.encode()))
        moment = datetime.fromisoformat(text)
    except (ValueError, TypeError) as error:
        raise refused() from error
    ours = found == of and isinstance(id_, str) and _is_id(id_) and moment.utcoffset() == timedelta()
    if not ours or given != _encoded(of, moment, id_):
        raise refused()
    return Cursor(values=(moment,), id=id_)


def _is_id(text: str) -> bool:
    """Whether a document can be called that; a token that is short enough has none that is too long."""
    return "/" not in text and text not in ("", ".", "..") and fullmatch(r"__.*__", text, DOTALL) is None
