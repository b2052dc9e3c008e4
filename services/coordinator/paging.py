"""Page tokens: where a list goes on, opaque to clients."""

import base64
import binascii
from collections.abc import Callable, Sequence
from datetime import datetime
from typing import TypeVar

import orjson

from services.kernel.errors import FieldProblem, Invalid
from services.kernel.ports import Cursor, Snapshot
from services.kernel.wire.model import Page

Item = TypeVar("Item")

_REFUSED = FieldProblem(field="pageToken", message="not a token of this list")


def page(found: Sequence[Snapshot], show: Callable[[Snapshot], Item], *, size: int, field: str) -> Page[Item]:
    """The first `size` of `found`, a query for one more than that ordered by the time in `field`."""
    items = tuple(show(snapshot) for snapshot in found[:size])
    return Page(items=items, next_page_token=_token(found[size - 1], field) if len(found) > size else None)


def cursor(token: str | None) -> Cursor | None:
    """
    Raises:
        Invalid: the token is not one of ours.
    """
    if token is None:
        return None
    try:
        moment, id_ = orjson.loads(base64.urlsafe_b64decode(token.encode()))
        return Cursor(values=(datetime.fromisoformat(moment),), id=str(id_))
    except (ValueError, TypeError, binascii.Error) as error:
        raise Invalid("the page token is not one of this list", fields=(_REFUSED,)) from error


def _token(last: Snapshot, field: str) -> str:
    moment = last.data[field]
    if not isinstance(moment, datetime):
        raise TypeError(f"{last.ref.collection}/{last.ref.id} has no time in {field}")
    return base64.urlsafe_b64encode(orjson.dumps([moment.isoformat(), last.ref.id])).decode()
