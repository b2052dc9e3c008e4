"""The ledger as operators see it, and what they find out about a row: it happened, it did not, or a note (R112).

A verdict names the version that was looked at, says why and on what evidence, and is written into the audit before it
is tried and when its end is known. Nothing is forced, done to many rows at once, or done because a row is old.
"""

from collections.abc import Awaitable, Callable
from datetime import datetime
from typing import Final

import orjson

from services.coordinator.audit import Audit
from services.coordinator.ledger.ledger import Ledger
from services.coordinator.ledger.rows import Completed, Response, Row
from services.coordinator.operations.model import Catalogue, Operation
from services.coordinator.operations.redaction import redacted_text_or_json
from services.coordinator.records.audit import Entry
from services.coordinator.records.table import Held
from services.kernel.errors import (
    Ambiguous,
    AnvilError,
    FieldProblem,
    Invalid,
    LedgerUnavailable,
    NotFound,
    StaleVersion,
)
from services.kernel.ids import AuditId
from services.kernel.ports import Version
from services.kernel.wire import ledger as wire
from services.kernel.wire.audit import Act, AuditEntry, AuditOutcome, AuditQuery
from services.kernel.wire.model import Page, rfc3339

_HISTORY: Final = 100


class Verdicts:
    """`ledger` is None where none is configured: then every question is answered by that."""

    def __init__(self, ledger: Ledger | None, catalogue: Catalogue, audit: Audit) -> None:
        self._ledger = ledger
        self._catalogue = catalogue
        self._audit = audit

    async def page(self, query: wire.LedgerQuery) -> Page[wire.LedgerRow]:
        """
        Raises:
            LedgerUnavailable: there is no ledger, or it is away.
        """
        return await self._configured().page(query)

    async def show(self, collection: str, document: str) -> wire.LedgerRowView:
        """A row with its history. Of a row that was released only the history is left, in the audit.

        Raises:
            NotFound: there is no such row.
            LedgerUnavailable: there is no ledger, or it is away.
        """
        row = await self._at(collection).show(document)
        return wire.LedgerRowView(**dict(row), history=await self._history(row.ledger_ref))

    async def complete(self, collection: str, document: str, asked: wire.CompleteRowAs) -> wire.Settled:
        """The other system acted, and this is what it answered; what is secret of it is taken out (K2).

        Raises:
            NotFound, StaleVersion, AlreadySettled, AttemptRunning: see `settle.unsettled`; nothing was changed.
            Invalid: it says no success, no row could hold it, or the catalogue does not say what is secret of it.
            LedgerUnavailable: nothing was changed.
            Ambiguous: perhaps it was; asking again finds it applied.
        """
        ledger = self._at(collection)
        try:
            found = await ledger.read(document)
        except NotFound as error:
            raise await self._gone(ledger.reference(document), error) from error
        operation = self._operation(found.value.operation_id)
        response, at = _response(asked.response, operation), Version(asked.if_version)
        return await self._settled(
            Act.LEDGER_COMPLETE,
            ledger.reference(document),
            asked,
            lambda: ledger.settle_complete(document, at, response, ttl=operation.replay_ttl),
        )

    async def release(self, collection: str, document: str, asked: wire.ReleaseRowAs) -> wire.Settled:
        """The other system did not act: the row is deleted, and its key is free again.

        Raises:
            NotFound, StaleVersion, AlreadySettled, AttemptRunning: see `settle.unsettled`; nothing was changed.
            LedgerUnavailable: nothing was changed.
            Ambiguous: perhaps it was; asking again finds it applied.
        """
        ledger = self._at(collection)
        reference, at = ledger.reference(document), Version(asked.if_version)
        # The row first: whoever releases it has written the intent before, and is found after.
        since = await self._over(ledger, document, at)
        before = await self._audit.find(AuditId(asked.audit_id))
        if before is not None and before.outcome is AuditOutcome.DONE:
            return wire.Settled(ledger_ref=reference, row=None, audit_id=asked.audit_id)
        if since is None and before is not None and before.outcome is not AuditOutcome.REFUSED:
            since = before.at

        async def release() -> None:
            try:
                await ledger.settle_release(document, at)
            except (NotFound, StaleVersion):
                # By a try of this very act whose answer was lost, or was not waited for?
                if since is None or not await self._is_released(ledger, document, since=since, by=asked.audit_id):
                    raise

        return await self._settled(Act.LEDGER_RELEASE, reference, asked, release, before=before)

    async def note(self, collection: str, document: str, asked: wire.NoteAs) -> wire.Settled:
        """Write down what was found out; the row stays as it is.

        Raises:
            NotFound: there is no such row.
            StaleVersion: it is not as it was looked at; nothing was written.
            LedgerUnavailable: there is no ledger, or it is away.
        """
        row = await self._at(collection).show(document)
        if row.version != asked.if_version:
            said = f"the row is {row.status} at version {row.version}, not at {asked.if_version}; nothing was written"
            raise StaleVersion(said, ledger_ref=row.ledger_ref)
        await self._audit.note(
            asked.actor,
            Act.LEDGER_NOTE,
            row.ledger_ref,
            reason=asked.reason,
            evidence_sha256=asked.evidence_sha256,
            audit_id=AuditId(asked.audit_id),
        )
        return wire.Settled(ledger_ref=row.ledger_ref, row=row, audit_id=asked.audit_id)

    async def _settled(
        self,
        act: Act,
        reference: str,
        asked: wire.ReleaseRowAs | wire.CompleteRowAs,
        settle: Callable[[], Awaitable[Held[Row] | None]],
        *,
        before: Entry | None = None,
    ) -> wire.Settled:
        """Intent, act, outcome. `before` is the intent of an earlier try of the same act."""
        audit_id = await self._audit.intend(
            asked.actor,
            act,
            reference,
            reason=asked.reason,
            evidence_sha256=asked.evidence_sha256,
            audit_id=AuditId(asked.audit_id),
        )
        try:
            held = await settle()
        except AnvilError as error:
            told = await self._gone(reference, error, but=audit_id) if isinstance(error, NotFound) else error
            await self._audit.conclude(audit_id, _ended(told, before), told.code)
            if told is error:
                raise
            raise told from error
        await self._audit.conclude(audit_id, AuditOutcome.DONE)
        row = None if held is None else _shown(held, reference)
        return wire.Settled(ledger_ref=reference, row=row, audit_id=audit_id)

    async def _gone(self, reference: str, error: NotFound, *, but: AuditId | None = None) -> AnvilError:
        """What to say of a row that is not there: if somebody released it, that is its new state."""
        entry = await self._release_of(reference, but=but)
        if entry is None:
            return error
        said = f"the row was released at {rfc3339(entry.at)} by {entry.actor}; nothing was changed"
        return StaleVersion(said, ledger_ref=reference)

    async def _release_of(self, reference: str, *, but: str | None, since: datetime | None = None) -> AuditEntry | None:
        """The newest release by another act, from `since` on."""
        for entry in await self._history(reference):
            released = entry.act is Act.LEDGER_RELEASE and entry.outcome is not AuditOutcome.REFUSED
            if released and entry.audit_id != but and (since is None or entry.at >= since):
                return entry
        return None

    async def _history(self, reference: str) -> tuple[AuditEntry, ...]:
        return (await self._audit.page(AuditQuery(target=reference, page_size=_HISTORY))).items

    async def _over(self, ledger: Ledger, document: str, version: Version) -> datetime | None:
        """When the calls of the row that is there at this version have ended: whatever takes its place begins later."""
        try:
            row = await ledger.show(document)
        except NotFound:
            return None
        return row.max_until if row.version == version else None

    async def _is_released(self, ledger: Ledger, document: str, *, since: datetime, by: str) -> bool:
        """Whether the row that began before `since` is gone, and the audit knows of nobody else who released it."""
        reference = ledger.reference(document)
        try:
            if (await ledger.show(document)).started_at < since:
                return False
        except NotFound:
            pass
        return await self._release_of(reference, but=by, since=since) is None

    def _operation(self, operation_id: str) -> Operation:
        """The operation that a row is of, which knows what of an answer must not be kept.

        Raises:
            Invalid: it is not in the catalogue any more. Better no replay than one with a secret in it.
        """
        operation = self._catalogue.operations.get(operation_id)
        if operation is None:
            said = f"the catalogue has no operation {operation_id}, and so nobody knows what of its answer is secret"
            raise Invalid(said, fields=(FieldProblem(field="response", message=said),))
        return operation

    def _at(self, collection: str) -> Ledger:
        ledger = self._configured()
        if collection != ledger.collection:
            raise NotFound("there is no such row")
        return ledger

    def _configured(self) -> Ledger:
        if self._ledger is None:
            raise LedgerUnavailable("no idempotency ledger is configured here")
        return self._ledger


def _response(given: wire.SettledResponse, operation: Operation) -> Response:
    """
    Raises:
        Invalid: it is no answer of a system that acted.
    """
    if not 200 <= given.status <= 299:
        said = "must be from 200 to 299: a row is completed because the other system acted"
        raise Invalid(said, fields=(FieldProblem(field="response.status", message=said),))
    kept = redacted_text_or_json(given.body, operation.redact)
    return Response(status=given.status, result_json=orjson.dumps(kept).decode())


def _ended(error: AnvilError, before: Entry | None) -> AuditOutcome:
    """A row that changed since an earlier try of the same act may have been changed by that."""
    tried = before is not None and before.outcome is not AuditOutcome.REFUSED
    if isinstance(error, Ambiguous) or (tried and isinstance(error, StaleVersion)):
        return AuditOutcome.UNKNOWN
    return AuditOutcome.REFUSED


def _shown(held: Held[Row], reference: str) -> wire.LedgerRow:
    row = held.value
    done = row if isinstance(row, Completed) else None
    return wire.LedgerRow(
        ledger_ref=reference,
        status=wire.RowStatus.IN_PROGRESS if done is None else wire.RowStatus.COMPLETED,
        version=held.version,
        operation=row.operation_id,
        trace_id=row.trace_id,
        fingerprint=row.fingerprint[:12],
        started_at=row.started_at,
        max_until=row.max_until,
        response_status=None if done is None else done.response_status,
        result_bytes=None if done is None else len(done.result_json.encode()),
        expires_at=None if done is None else done.expires_at,
    )
