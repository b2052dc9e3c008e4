"""Operations as people see them.

Pure.
"""

from services.coordinator.operations.model import Catalogue, Operation
from services.coordinator.operations.modes import RULES, Need
from services.kernel.errors import FieldProblem, Invalid
from services.kernel.wire import operations as wire
from services.kernel.wire.model import Page, PageQuery


def page(catalogue: Catalogue, query: PageQuery, *, has_ledger: bool) -> Page[wire.Operation]:
    """A part of the catalogue; a page token is the id of the last operation that was seen.

    Raises:
        Invalid: the page token is none.
    """
    names = list(catalogue.operations)
    if query.page_token is not None and query.page_token not in catalogue.operations:
        problem = FieldProblem(field="pageToken", message="not a token of this list")
        raise Invalid("the page token is not one of this list", fields=(problem,))
    begin = 0 if query.page_token is None else names.index(query.page_token) + 1
    shown = names[begin : begin + query.page_size]
    return Page(
        items=tuple(show(catalogue.operations[name], has_ledger=has_ledger) for name in shown),
        next_page_token=shown[-1] if begin + len(shown) < len(names) else None,
    )


def show(operation: Operation, *, has_ledger: bool) -> wire.Operation:
    """What it takes and where it goes. Replays are promised only where the ledger keeps them (R143)."""
    replays = has_ledger and RULES[operation.mode].ledger is not Need.NEVER
    return wire.Operation(
        operation=operation.id,
        title=operation.title,
        approved=operation.approved,
        mode=operation.mode,
        method=operation.method,
        upstream=operation.upstream.url,
        path=operation.path,
        input=dict(operation.input),
        replays=wire.Replays(ttl_seconds=int(operation.replay_ttl.total_seconds())) if replays else None,
    )
