"""Calls under the ledger's guard: reserve, call, and complete, release or leave the row as it is.

A row is released only on proof that no attempt acted, and completed only with the answer itself. Whatever is in between
stays in progress, until an operator has found out (R131, R137).
"""

import json
from dataclasses import dataclass

import orjson

from services.coordinator.ledger.ledger import Ledger, Replayed, Reserved, Running, Wanted
from services.coordinator.ledger.rows import Response, TooLarge
from services.coordinator.operations.answers import passed_on, unsettled
from services.coordinator.operations.calls import Calls, Execution
from services.coordinator.operations.outcome import Answered, Effect, effect_of_all, last_answer
from services.coordinator.operations.redaction import redacted, redacted_text_or_json
from services.kernel import trace
from services.kernel.errors import IdempotencyInProgress
from services.kernel.ports import Clock
from services.kernel.wire.operations import Executed


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """The row that stands for a key, and what tells this request from others under it."""

    document: str
    fingerprint: str


class Guard:
    def __init__(self, ledger: Ledger, calls: Calls, *, clock: Clock) -> None:
        self._ledger = ledger
        self._calls = calls
        self._clock = clock

    def reference(self, place: Place) -> str:
        """What people call the row by."""
        return self._ledger.reference(place.document)

    async def run(self, execution: Execution, place: Place) -> Executed:
        """The other system's answer, now or as it was.

        Raises:
            IdempotencyKeyReused, IdempotencyInProgress, LedgerUnavailable: nothing was called.
            OutcomeUnknown: it may have acted; the row stays.
            Unavailable: nothing left for it, and the key is free again.
        """
        taken = await self._ledger.reserve(place.document, self._wanted(execution, place))
        match taken:
            case Replayed(row=row):
                # By today's catalogue: what is secret by now may have been stored before.
                result = redacted_text_or_json(json.loads(row.result_json), execution.operation.redact)
                return Executed(status=row.response_status, result=result, replayed=True)
            case Running():
                said = "a request with this key is running, or its outcome is unknown and may need reconciliation"
                raise IdempotencyInProgress(said, ledger_ref=self._ledger.reference(place.document))
            case Reserved():
                return await self._call(execution, taken)

    async def _call(self, execution: Execution, reserved: Reserved) -> Executed:
        attempts = await self._calls.make(execution, until=reserved.row.max_until)
        answer = last_answer(attempts)
        match effect_of_all(execution.operation, attempts):
            case Effect.ACTED if answer is not None:
                return await self._complete(execution, reserved, answer)
            case Effect.NONE:
                await self._ledger.release(reserved)
                return passed_on(attempts, repeatable=True)
            case _:
                raise unsettled(self._ledger.reference(reserved.document))

    async def _complete(self, execution: Execution, reserved: Reserved, answer: Answered) -> Executed:
        """The caller gets its success also where no row can hold it; then the row stays, for an operator (R110)."""
        operation = execution.operation
        kept = redacted(answer.result, operation.redact, is_json=answer.is_json)
        reference = None
        try:
            if answer.too_long:
                raise TooLarge
            response = Response(status=answer.status, result_json=orjson.dumps(kept).decode())
            await self._ledger.complete(reserved, response, ttl=operation.replay_ttl)
        except TooLarge:
            reference = self._ledger.reference(reserved.document)
        return Executed(status=answer.status, result=answer.result, replayed=False, ledger_ref=reference)

    def _wanted(self, execution: Execution, place: Place) -> Wanted:
        current = trace.current()
        return Wanted(
            fingerprint=place.fingerprint,
            operation_id=execution.operation.id,
            trace_id=None if current is None else current.trace_id,
            max_until=self._clock.now() + execution.longest,
        )
