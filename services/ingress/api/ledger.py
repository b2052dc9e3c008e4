"""The idempotency ledger: its rows, and an operator's verdict on one."""

import re
from collections.abc import Mapping

from services.ingress.api.everywhere import everywhere
from services.ingress.api.if_match import etag, if_match
from services.ingress.coordinator import Coordinator
from services.ingress.roles import Roles
from services.kernel.errors import NotFound
from services.kernel.ids import new_audit_id
from services.kernel.ports import Ids
from services.kernel.web import Answer, Call, Served, route
from services.kernel.wire import api, internal
from services.kernel.wire.ledger import (
    COLLECTION,
    DOCUMENT,
    CompleteRow,
    CompleteRowAs,
    LedgerQuery,
    LedgerRow,
    LedgerRowView,
    Note,
    NoteAs,
    ReleaseRow,
    ReleaseRowAs,
    Settled,
)
from services.kernel.wire.model import Empty, Page


class Ledger:
    def __init__(self, coordinator: Coordinator, roles: Roles, ids: Ids) -> None:
        self._coordinator = coordinator
        self._roles = roles
        self._ids = ids

    def served(self) -> list[Served]:
        return everywhere(
            self._roles,
            route(api.LIST_LEDGER, self._list),
            route(api.GET_LEDGER_ROW, self._get),
            route(api.COMPLETE_LEDGER_ROW, self._complete),
            route(api.RELEASE_LEDGER_ROW, self._release),
            route(api.NOTE_LEDGER_ROW, self._note),
        )

    async def _list(self, call: Call[LedgerQuery]) -> Page[LedgerRow]:
        return await self._coordinator.call(internal.LIST_LEDGER, body=call.body)

    async def _get(self, call: Call[Empty]) -> Answer[LedgerRowView]:
        row = await self._coordinator.call(internal.GET_LEDGER_ROW, path=_row(call.path))
        return Answer(row, headers={"ETag": etag(row.version)})

    async def _complete(self, call: Call[CompleteRow]) -> Settled:
        asked = CompleteRowAs(
            response=call.body.response,
            evidence_sha256=call.body.evidence_sha256,
            reason=call.body.reason,
            if_version=if_match(call.headers),
            audit_id=new_audit_id(self._ids),
            actor=call.caller.email,
        )
        return await self._coordinator.call(internal.COMPLETE_LEDGER_ROW, path=_row(call.path), body=asked)

    async def _release(self, call: Call[ReleaseRow]) -> Settled:
        asked = ReleaseRowAs(
            evidence_sha256=call.body.evidence_sha256,
            reason=call.body.reason,
            if_version=if_match(call.headers),
            audit_id=new_audit_id(self._ids),
            actor=call.caller.email,
        )
        return await self._coordinator.call(internal.RELEASE_LEDGER_ROW, path=_row(call.path), body=asked)

    async def _note(self, call: Call[Note]) -> Settled:
        asked = NoteAs(
            evidence_sha256=call.body.evidence_sha256,
            reason=call.body.reason,
            if_version=if_match(call.headers),
            audit_id=new_audit_id(self._ids),
            actor=call.caller.email,
        )
        return await self._coordinator.call(internal.NOTE_LEDGER_ROW, path=_row(call.path), body=asked)


def _row(path: Mapping[str, str]) -> Mapping[str, str]:
    """
    Raises:
        NotFound: no row can be called that.
    """
    if not (re.fullmatch(COLLECTION, path["collection"]) and re.fullmatch(DOCUMENT, path["document"])):
        raise NotFound("there is no such row")
    return path
