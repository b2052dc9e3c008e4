"""Room for one run at a time."""

import asyncio

from services.kernel import deadline
from services.kernel.errors import AnvilError, Busy, Unavailable
from services.kernel.ids import RunId
from services.kernel.log import get_logger
from services.kernel.wire.runs import ClaimAnswer
from services.runner.ending import Cause, Ending
from services.runner.execute import execute
from services.runner.means import Means
from services.runner.sandbox import TeardownFailed

log = get_logger(__name__)


class Slot:
    """Executes what it is given, and nothing beside it."""

    def __init__(self, means: Means) -> None:
        self._means = means
        self._ending: Ending | None = None
        self._task: asyncio.Task[ClaimAnswer] | None = None
        self._closed = False

    async def execute(self, run: RunId) -> ClaimAnswer:
        """See a run through; it goes on also if nobody waits for the answer any more.

        Raises:
            Busy: there is a run already, or this process is about to end; nothing was claimed.
            AnvilError: the claim was not answered.
        """
        if self._closed or (self._task is not None and not self._task.done()):
            raise Busy
        self._ending = Ending()
        self._task = asyncio.create_task(self._see_through(run, self._ending))
        return await asyncio.shield(self._task)

    def terminate(self) -> None:
        """Take no more runs, and end the one that is there for the reason `runner_terminated`."""
        self._closed = True
        if self._ending is not None:
            self._ending.require(Cause.TERMINATED)

    async def idle(self) -> None:
        """Wait until there is no run."""
        if self._task is not None:
            await asyncio.wait({self._task})

    async def ready(self) -> None:
        """
        Raises:
            Unavailable: this runner is about to end.
        """
        if self._closed:
            raise Unavailable("this runner is shutting down")

    async def _see_through(self, run: RunId, ending: Ending) -> ClaimAnswer:
        # The run has limits of its own; the request that brought it may go.
        with deadline.scope(self._means.clock, None):
            await self._make_room()
            try:
                return await execute(run, self._means, ending)
            except AnvilError:
                raise
            except Exception:
                # Nobody may be waiting for the answer any more.
                log.exception("a run broke off", run=run)
                raise

    async def _make_room(self) -> None:
        """Once more remove what an earlier run has left behind.

        Raises:
            Busy: it is still there; no run meets another's leftovers.
        """
        try:
            await self._means.sandbox.close()
        except TeardownFailed as error:
            log.error("an earlier run is still not torn down", detail=error.detail)
            raise Busy("an earlier run is not torn down yet") from error
