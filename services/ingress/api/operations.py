"""Approved operations: what there is, and executing one."""

from datetime import timedelta
from typing import Final

from services.ingress.api.everywhere import everywhere
from services.ingress.api.idempotency import idempotency_key
from services.ingress.coordinator import Coordinator
from services.ingress.roles import Roles
from services.kernel import deadline
from services.kernel.errors import Ambiguous, AnvilError, OperationOutcomeUnknown
from services.kernel.ports import Clock
from services.kernel.web import Answer, Call, Served, route
from services.kernel.wire import api, internal
from services.kernel.wire.model import Page, PageQuery
from services.kernel.wire.operations import (
    LONGEST_EXECUTION,
    Execute,
    Executed,
    ExecuteOperation,
    Mode,
    Operation,
)

_REPLAYED: Final = {"Idempotent-Replayed": "true"}
_LOOKED_UP_WITHIN: Final = timedelta(seconds=2)


class Operations:
    def __init__(self, coordinator: Coordinator, roles: Roles, *, clock: Clock) -> None:
        self._coordinator = coordinator
        self._roles = roles
        self._clock = clock

    def served(self) -> list[Served]:
        return everywhere(
            self._roles, route(api.LIST_OPERATIONS, self._list), route(api.EXECUTE_OPERATION, self._execute)
        )

    async def _list(self, call: Call[PageQuery]) -> Page[Operation]:
        return await self._coordinator.call(internal.LIST_OPERATIONS, body=call.body)

    async def _execute(self, call: Call[Execute]) -> Answer[Executed]:
        asked = ExecuteOperation(
            input=call.body.input,
            dry_run=call.body.dry_run,
            confirm=call.body.confirm,
            idempotency_key=idempotency_key(call.headers),
            actor=call.caller.email,
        )
        try:
            # Asked once: whether it may be asked again is for whoever has the key to say.
            executed = await self._coordinator.call_once(
                internal.EXECUTE_OPERATION, path=call.path, body=asked, within=LONGEST_EXECUTION
            )
        except Ambiguous as error:
            if _is_told(error) or await self._may_be_repeated(call.path["operation"], asked):
                raise
            said = "no answer came in time; the other system may have acted, and asking again may do it twice"
            raise OperationOutcomeUnknown(said) from error
        return Answer(executed, headers=_REPLAYED if executed.replayed else {})

    async def _may_be_repeated(self, operation: str, asked: ExecuteOperation) -> bool:
        """Whether asking again does nothing twice: by its key, or by what the catalogue says of it."""
        if asked.dry_run or asked.idempotency_key is not None:
            return True
        if asked.confirm:
            return False
        try:
            # Time of its own: what the caller gave may be over, which is why this is asked.
            with deadline.scope(self._clock, _LOOKED_UP_WITHIN):
                found = await self._find(operation)
        except AnvilError:
            return False
        return found is not None and found.mode in (Mode.NATURAL, Mode.CLIENT_ID)

    async def _find(self, operation: str) -> Operation | None:
        query: PageQuery | None = PageQuery(page_size=100)
        while query is not None:
            page = await self._coordinator.call(internal.LIST_OPERATIONS, body=query)
            for each in page.items:
                if each.operation == operation:
                    return each
            token = page.next_page_token
            query = None if token is None else PageQuery(page_size=100, page_token=token)
        return None


def _is_told(error: Ambiguous) -> bool:
    """Whether the coordinator itself answered, which says so only of what may be repeated, and always says when."""
    return error.retry_after is not None
