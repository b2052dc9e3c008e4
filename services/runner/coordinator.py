"""What the runner asks of the coordinator, which alone decides about runs.

Every call but `claim` is fenced: an attempt that does not own the run, or no longer, gets `OwnershipLost` and has
changed nothing. Each may be asked again after `Unavailable` or `Ambiguous` and is then answered as the first time.
"""

from datetime import timedelta
from typing import Protocol

from services.kernel.client import Client
from services.kernel.ids import RunId
from services.kernel.wire import internal
from services.kernel.wire.runs import AppendLog, Claim, ClaimAnswer, Complete, Heartbeat, Orders, Report, Start


class Coordinator(Protocol):
    async def claim(self, run: RunId, message: Claim) -> ClaimAnswer:
        """Take the run, or learn why there is nothing to do."""
        ...

    async def start(self, run: RunId, message: Start) -> Orders:
        """Record the commit; commands may begin if the answer is `continue`."""
        ...

    async def heartbeat(self, run: RunId, message: Heartbeat) -> Orders:
        """Renew the lease."""
        ...

    async def append_log(self, run: RunId, message: AppendLog) -> None:
        """Store chunks of the log."""
        ...

    async def report(self, run: RunId, message: Report) -> None:
        """Say how the run ended."""
        ...

    async def complete(self, run: RunId, message: Complete) -> None:
        """End the run; its sandbox is gone, or will not go."""
        ...


class RemoteCoordinator:
    """The coordinator over HTTP. `within` is how long one answer may take: it must be well under the lease."""

    def __init__(self, client: Client, *, within: timedelta) -> None:
        self._client = client
        self._within = within

    async def claim(self, run: RunId, message: Claim) -> ClaimAnswer:
        return await self._client.call(internal.CLAIM, path={"run": run}, body=message, within=self._within)

    async def start(self, run: RunId, message: Start) -> Orders:
        return await self._client.call(internal.START, path={"run": run}, body=message, within=self._within)

    async def heartbeat(self, run: RunId, message: Heartbeat) -> Orders:
        return await self._client.call(internal.HEARTBEAT, path={"run": run}, body=message, within=self._within)

    async def append_log(self, run: RunId, message: AppendLog) -> None:
        await self._client.call(internal.APPEND_LOG, path={"run": run}, body=message, within=self._within)

    async def report(self, run: RunId, message: Report) -> None:
        await self._client.call(internal.REPORT, path={"run": run}, body=message, within=self._within)

    async def complete(self, run: RunId, message: Complete) -> None:
        await self._client.call(internal.COMPLETE, path={"run": run}, body=message, within=self._within)
