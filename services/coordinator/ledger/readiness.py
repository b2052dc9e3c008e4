"""Whether the coordinator can work: one masked row of the state, and one of the ledger where there is one (R114, R115).

For the start of an instance, and never for its life: who serves goes on with what needs no store while one is away. A
verdict is kept for a while, and whoever asks while it is being found waits for the same one.
"""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import timedelta
from typing import Final, TypeAlias

from services.kernel import deadline
from services.kernel.errors import AnvilError, LedgerUnavailable, Unavailable
from services.kernel.ports import Clock

WITHIN: Final = timedelta(seconds=2.5)
"""Of the 3 s in which `/readyz` answers, so that it can still say which of the two does not."""
KEPT_READY: Final = timedelta(seconds=30)
KEPT_REFUSED: Final = timedelta(seconds=5)

Probe: TypeAlias = Callable[[], Awaitable[object]]
"""Reads, within a bound, and changes nothing. Raises `Unavailable` if that fails."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Verdict:
    refusal: Unavailable | None
    until: timedelta

    def tell(self) -> None:
        if self.refusal is not None:
            raise type(self.refusal)(self.refusal.detail)


class Readiness:
    def __init__(self, *, state: Probe, ledger: Probe | None, clock: Clock, within: timedelta = WITHIN) -> None:
        self._state = state
        self._ledger = ledger
        self._clock = clock
        self._within = within
        self._verdict: _Verdict | None = None
        self._finding: asyncio.Task[_Verdict] | None = None

    async def check(self) -> None:
        """
        Raises:
            LedgerUnavailable: the ledger does not answer, whatever the state's database does.
            Unavailable: the state's database does not.
        """
        if self._verdict is None or self._clock.elapsed() >= self._verdict.until:
            self._verdict = await self._found()
        self._verdict.tell()

    async def _found(self) -> _Verdict:
        if self._finding is None:
            # Nobody's deadline: whoever asks next waits for it too.
            with deadline.scope(self._clock, None):
                self._finding = asyncio.create_task(self._find())
        return await asyncio.shield(self._finding)

    async def _find(self) -> _Verdict:
        try:
            state, ledger = await asyncio.gather(self._asked(self._state), self._asked(self._ledger))
        finally:
            self._finding = None
        refusal = _refusal(state=state, ledger=ledger)
        kept = KEPT_READY if refusal is None else KEPT_REFUSED
        return _Verdict(refusal=refusal, until=self._clock.elapsed() + kept)

    async def _asked(self, probe: Probe | None) -> AnvilError | None:
        if probe is None:
            return None
        try:
            async with deadline.within(self._clock, at_most=self._within):
                await probe()
        except AnvilError as error:
            return error
        return None


def _refusal(*, state: AnvilError | None, ledger: AnvilError | None) -> Unavailable | None:
    if ledger is not None:
        return LedgerUnavailable(ledger.detail)
    return None if state is None else Unavailable(state.detail)
