"""One attempt at one run: its token, its lease, and what it says to the coordinator.

All calls carry the same token, so that one whose answer was lost is simply asked again.
"""

from collections.abc import Awaitable, Callable
from datetime import timedelta
from typing import TypeVar

from services.kernel.errors import AnvilError, OwnershipLost, Permanent
from services.kernel.ids import CommitSha, RunId
from services.kernel.log import get_logger
from services.kernel.ports import Clock, Ids
from services.kernel.wire.runs import (
    AppendLog,
    Claim,
    ClaimAnswer,
    Complete,
    Heartbeat,
    LogChunk,
    Orders,
    Report,
    Start,
    StepStatus,
)
from services.runner.coordinator import Coordinator
from services.runner.lease import Lease
from services.runner.outcome import Outcome

log = get_logger(__name__)

Answer = TypeVar("Answer")

_FIRST_PAUSE = timedelta(milliseconds=200)
_LONGEST_PAUSE = timedelta(seconds=5)
_FOREVER = timedelta.max


class Attempt:
    """Begins with its creation: from then on its lease runs."""

    def __init__(self, run: RunId, coordinator: Coordinator, *, clock: Clock, ids: Ids, lease: timedelta) -> None:
        self._run = run
        self._coordinator = coordinator
        self._clock = clock
        self._ids = ids
        self._token = ids.token()
        self._claimed_within = lease
        self.began = clock.elapsed()
        self.lease = Lease(lease, sent_at=self.began)

    async def claim(self) -> ClaimAnswer:
        """Ask for the run, again and again as long as the lease of an unheard yes would last.

        Raises:
            AnvilError: the coordinator's last word, if it never answered.
        """
        message = Claim(attempt=self._token)
        return await self._answered(lambda: self._coordinator.claim(self._run, message), within=self._claimed_within)

    async def start(self, commit: CommitSha) -> Orders:
        """Ask whether commands may begin, until there is an answer.

        Raises:
            OwnershipLost: the run is not ours.
            Permanent: this commit is not accepted.
        """
        message = Start(attempt=self._token, commit_sha=commit)
        sent_at = self._clock.elapsed()
        orders = await self._answered(lambda: self._coordinator.start(self._run, message))
        self.lease.renew(sent_at=sent_at)
        return orders

    async def heartbeat(self, steps: tuple[StepStatus, ...]) -> Orders:
        """Say once that the attempt lives.

        Raises:
            OwnershipLost: the run is not ours.
            AnvilError: no answer; the lease runs on.
        """
        sent_at = self._clock.elapsed()
        orders = await self._coordinator.heartbeat(self._run, Heartbeat(attempt=self._token, steps=steps))
        self.lease.renew(sent_at=sent_at)
        return orders

    async def append_log(self, chunks: tuple[LogChunk, ...]) -> None:
        """Send once a part of the log.

        Raises:
            AnvilError: whatever the coordinator says.
        """
        await self._coordinator.append_log(self._run, AppendLog(attempt=self._token, chunks=chunks))

    async def report(self, outcome: Outcome, steps: tuple[StepStatus, ...]) -> None:
        """Say how the run ended, until it is accepted or the run is another's (invariant R6).

        Raises:
            OwnershipLost: it is.
        """
        message = Report(
            attempt=self._token,
            status=outcome.status,
            reason=outcome.reason,
            detail=outcome.detail,
            exit_code=outcome.exit_code,
            steps=steps,
        )
        await self._settled(lambda: self._coordinator.report(self._run, message))

    async def complete(self, *, torn_down: bool) -> None:
        """End the run, until it is accepted or the run is another's.

        Raises:
            OwnershipLost: it is.
        """
        message = Complete(attempt=self._token, teardown_complete=torn_down)
        await self._settled(lambda: self._coordinator.complete(self._run, message))

    async def _settled(self, call: Callable[[], Awaitable[None]]) -> None:
        try:
            await self._answered(call)
        except OwnershipLost:
            raise
        except Permanent as error:
            # Asking again would be answered alike; the watchdog ends the run.
            log.error("the coordinator refused a result", run=self._run, code=error.code, detail=error.detail)

    async def _answered(self, call: Callable[[], Awaitable[Answer]], *, within: timedelta = _FOREVER) -> Answer:
        """Repeat a call until it succeeds, is refused for good, or `within` has passed since the attempt began."""
        pause = _FIRST_PAUSE
        while True:
            try:
                return await call()
            except Permanent:
                raise
            except AnvilError as error:
                if self._clock.elapsed() - self.began >= within:
                    raise
                log.info("the coordinator is asked again", run=self._run, code=error.code)
            await self._clock.sleep(pause * (0.5 + self._ids.fraction()))
            pause = min(pause * 2, _LONGEST_PAUSE)
