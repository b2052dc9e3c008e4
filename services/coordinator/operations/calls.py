"""The attempts of one execution: the same request each time, none too late, none once it is known what happened."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta

from services.coordinator.operations.model import Operation
from services.coordinator.operations.outcome import Answered, Attempt, calls_again, effect, longest, pause
from services.coordinator.operations.redaction import masked
from services.coordinator.operations.request import Outbound
from services.coordinator.operations.upstream import Caller, TooLate
from services.kernel.addresses import Address
from services.kernel.log import get_logger
from services.kernel.ports import Clock, Ids

log = get_logger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class Execution:
    """One call that passed every gate.

    `found` is where it goes, judged; `attempts` how often at most; `masked` the texts that no answer may give away.
    """

    operation: Operation
    request: Outbound = field(repr=False)
    found: Sequence[Address]
    attempts: int
    masked: Sequence[str] = field(default=(), repr=False)

    @property
    def longest(self) -> timedelta:
        """How long its attempts can take at most."""
        return longest(attempts=self.attempts, timeout=self.operation.timeout)


class Calls:
    def __init__(self, caller: Caller, *, clock: Clock, ids: Ids) -> None:
        self._caller = caller
        self._clock = clock
        self._ids = ids

    async def make(self, execution: Execution, *, until: datetime | None = None) -> tuple[Attempt, ...]:
        """Call until that has come to something; every attempt, in order.

        `until` is the ledger's `max_until`, where the ledger guards the call: each attempt has ended by then. That is
        asked again right before the request leaves, for a process may have stood still since it was asked last.
        """
        latest = None if until is None else until - execution.operation.timeout
        ended: list[Attempt] = []
        while len(ended) < execution.attempts:
            if ended:
                await self._clock.sleep(pause(len(ended), fraction=self._ids.fraction()))
            if self._is_past(latest):
                break
            ended.append(await self._attempt(execution, latest))
            self._log(execution.operation, ended)
            if not calls_again(execution.operation, ended, guarded=until is not None):
                break
        return tuple(ended)

    async def _attempt(self, execution: Execution, latest: datetime | None) -> Attempt:
        def leaving() -> None:
            if self._is_past(latest):
                raise TooLate

        attempt = await self._caller.call(
            execution.request, execution.found, within=execution.operation.timeout, leaving=leaving
        )
        if isinstance(attempt, Answered) and execution.masked:
            return replace(attempt, result=masked(attempt.result, execution.masked))
        return attempt

    def _is_past(self, latest: datetime | None) -> bool:
        return latest is not None and self._clock.now() > latest

    def _log(self, operation: Operation, ended: Sequence[Attempt]) -> None:
        last = ended[-1]
        told = {"status": last.status} if isinstance(last, Answered) else {"detail": last.why}
        log.info(
            "an attempt at another system ended",
            operation=operation.id,
            attempt_number=len(ended),
            outcome=effect(operation, last),
            **told,
        )
