"""Who did what: acts on the state are written with it in one commit, acts on anything else before and after.

The second kind cannot be one commit with what it does. So the intent is written first, and the act is not done if that
fails; the outcome is written when it is known, and where that got lost, the entry says that somebody should look.
"""

from dataclasses import replace
from datetime import timedelta
from typing import Final

from services.coordinator import paging
from services.coordinator.layout import AUDIT_BY_AGE
from services.coordinator.records.audit import AUDIT, Entry
from services.coordinator.records.table import Held
from services.kernel.errors import AlreadyExists, Ambiguous, AnvilError, Contended, PreconditionFailed, Transient
from services.kernel.ids import AuditId, new_audit_id
from services.kernel.log import get_logger
from services.kernel.ports import Clock, Ids, Op, Snapshot, Store, Where, Write
from services.kernel.wire.audit import Act, AuditEntry, AuditOutcome, AuditQuery
from services.kernel.wire.model import Page

log = get_logger(__name__)

_TRIES: Final = 5
_PAUSE: Final = timedelta(milliseconds=50)


class Audit:
    def __init__(self, store: Store, *, clock: Clock, ids: Ids) -> None:
        self._store = store
        self._clock = clock
        self._ids = ids

    def entry(self, actor: str, act: Act, target: str) -> Write:
        """An act that is done exactly if what it is committed with is."""
        now = self._clock.now()
        done = replace(self._entry(actor, act, target), outcome=AuditOutcome.DONE, concluded_at=now)
        return AUDIT.create(done.audit_id, done, ids=self._ids)

    async def intend(
        self,
        actor: str,
        act: Act,
        target: str,
        *,
        reason: str | None = None,
        evidence_sha256: str | None = None,
        audit_id: AuditId | None = None,
    ) -> AuditId:
        """Write down what is about to be done. With an `audit_id` that is there already, it was written before.

        Raises:
            Unavailable: nothing was written; do not act.
            Ambiguous: perhaps it was; do not act.
        """
        intent = replace(
            self._entry(actor, act, target, audit_id=audit_id), reason=reason, evidence_sha256=evidence_sha256
        )
        await self._create(intent)
        return intent.audit_id

    async def note(
        self, actor: str, act: Act, target: str, *, reason: str, evidence_sha256: str | None, audit_id: AuditId
    ) -> None:
        """Write down what is done by being written down. Raises like `intend`."""
        intent = self._entry(actor, act, target, audit_id=audit_id)
        done = replace(intent, outcome=AuditOutcome.DONE, concluded_at=intent.at)
        await self._create(replace(done, reason=reason, evidence_sha256=evidence_sha256))

    async def conclude(self, audit_id: AuditId, outcome: AuditOutcome, code: str | None = None) -> None:
        """Write down how it ended; what is done stays done. At best effort: a lost outcome leaves the intent."""
        try:
            for _ in range(_TRIES):
                held = await self._held(audit_id)
                if held is None or held.value.outcome is AuditOutcome.DONE or held.value.outcome is outcome:
                    return
                concluded = replace(held.value, outcome=outcome, code=code, concluded_at=self._clock.now())
                if await self._replaced(concluded, held):
                    return
                await self._pause()
        except AnvilError as error:
            log.warning("the outcome of an act was not written down", code=error.code, document=audit_id)

    async def find(self, audit_id: AuditId) -> Entry | None:
        """
        Raises:
            Unavailable: the store is away.
        """
        held = await self._held(audit_id)
        return None if held is None else held.value

    async def page(self, query: AuditQuery) -> Page[AuditEntry]:
        """Acts, newest first, all of them or those on one target.

        Raises:
            Invalid: the page token is not of this list.
            Unavailable: the store is away.
        """
        where = () if query.target is None else (Where("target", Op.EQUAL, query.target),)
        asked = paging.query(AUDIT.collection, query, by=AUDIT_BY_AGE.order[0], where=where)
        return paging.page(asked, await self._store.query(asked), _shown)

    def _entry(self, actor: str, act: Act, target: str, *, audit_id: AuditId | None = None) -> Entry:
        return Entry(
            audit_id=audit_id or new_audit_id(self._ids), at=self._clock.now(), actor=actor, act=act, target=target
        )

    async def _create(self, entry: Entry) -> None:
        """Until it is certain that the entry is there."""
        write = AUDIT.create(entry.audit_id, entry, ids=self._ids)
        lost: Transient | None = None
        for _ in range(_TRIES):
            try:
                await self._store.commit([write])
            except AlreadyExists:
                return
            except (Ambiguous, Contended) as error:
                # The same document again: if the first was applied, it is there already.
                lost = error
                await self._pause()
            else:
                return
        raise lost or Ambiguous

    async def _replaced(self, entry: Entry, held: Held[Entry]) -> bool:
        try:
            await self._store.commit([AUDIT.replace(entry.audit_id, entry, at=held.version, ids=self._ids)])
        except (Ambiguous, Contended, PreconditionFailed):
            return False
        return True

    async def _held(self, audit_id: AuditId) -> Held[Entry] | None:
        (snapshot,) = await self._store.get([AUDIT.ref(audit_id)])
        return AUDIT.load_if(snapshot)

    async def _pause(self) -> None:
        await self._clock.sleep(_PAUSE * (0.5 + self._ids.fraction()))


def _shown(snapshot: Snapshot) -> AuditEntry:
    entry = AUDIT.load(snapshot).value
    return AuditEntry(
        audit_id=entry.audit_id,
        at=entry.at,
        actor=entry.actor,
        act=entry.act,
        target=entry.target,
        reason=entry.reason,
        evidence_sha256=entry.evidence_sha256,
        outcome=entry.outcome,
        code=entry.code,
        concluded_at=entry.concluded_at,
    )
