"""Following a run: where it stands in the queue, its log as it grows, and how it ends."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import timedelta
from typing import TypeVar

from services.cli.exits import Stopped
from services.cli.session import Session
from services.kernel.errors import Transient
from services.kernel.runs import Status
from services.kernel.wire import api
from services.kernel.wire.model import Empty
from services.kernel.wire.runs import LogPart, RunView

PAUSE = timedelta(seconds=0.5)
FAILING_AT_MOST = timedelta(minutes=2)
LATE_LOG = timedelta(seconds=10)

Answer = TypeVar("Answer")


@dataclass(slots=True, kw_only=True)
class Watch:
    """One run and how much of its log was shown. The other side may be away for a while, but not for long."""

    session: Session
    run: str
    show: Callable[[LogPart], None]
    cursor: int = 0
    complete: bool = False
    said: str = ""

    async def to_the_end(self) -> RunView:
        """Until the run has ended and its log is complete, or is said not to be for a while.

        Raises:
            Stopped: the run had not ended within the patience that was given; it goes on.
        """
        patience = self.session.patience
        began, ended = self._now(), None
        while True:
            view = await self._patiently(self._view)
            self._say(view)
            if view.run.status is not Status.QUEUED:
                await self.so_far()
            if view.run.status.terminal:
                ended = ended or self._now()
                if self.complete or self._now() - ended >= LATE_LOG:
                    return view
            if patience is not None and self._now() - began >= patience:
                raise Stopped(f"{self.run} is still {view.run.status} after {patience}; it goes on")
            await self.session.world.clock.sleep(PAUSE)

    async def so_far(self) -> None:
        """What there is of the log, from where it was shown to last."""
        while not self.complete:
            part = await self._patiently(self._part)
            self.cursor, self.complete = part.cursor, part.complete
            if not part.text:
                return
            self.show(part)

    async def _view(self) -> RunView:
        return await self.session.api.call(api.GET_RUN, path={"run": self.run}, body=Empty())

    async def _part(self) -> LogPart:
        return await self.session.api.log(self.run, after=self.cursor)

    async def _patiently(self, call: Callable[[], Awaitable[Answer]]) -> Answer:
        """Ask again while the other side is away, until that has lasted too long."""
        began, patience = self._now(), min(FAILING_AT_MOST, self.session.patience or FAILING_AT_MOST)
        while True:
            try:
                return await call()
            except Transient as error:
                if self._now() - began >= patience:
                    raise
                self.session.out.note(f"{error.detail}; asking again")
                await self.session.world.clock.sleep(4 * PAUSE)

    def _say(self, view: RunView) -> None:
        place = f", place {view.place}" if view.place else ""
        if (news := f"{view.run.run_id} is {view.run.status}{place}") != self.said:
            self.said = news
            self.session.out.note(news)

    def _now(self) -> timedelta:
        return self.session.world.clock.elapsed()
