"""Calls to Firestore: one connection, a deadline on each, and another try for reads alone.

The client library retries a commit by itself and then reports the failure of its own success, and a timeout bounds one
of its tries, not the call; so here it retries nothing. A commit is sent only on a connection that stands: one that
could not be made has certainly applied nothing.
"""

import asyncio
from collections.abc import Awaitable, Callable
from datetime import timedelta
from typing import TypeVar

from google.api_core.exceptions import GoogleAPICallError
from google.auth.exceptions import GoogleAuthError
from grpc import ChannelConnectivity, StatusCode
from grpc.aio import Channel

from services.kernel import deadline
from services.kernel.adapters import firestore_failures as failures
from services.kernel.adapters.firestore_database import Api, Connection, Database
from services.kernel.errors import Unavailable
from services.kernel.log import get_logger
from services.kernel.ports import Clock

log = get_logger(__name__)

Answer = TypeVar("Answer")
Call = Callable[[Api, float], Awaitable[Answer]]
"""Asks the client, with the seconds that the call may take."""

LONGEST = timedelta(seconds=2)
_PAUSES = (timedelta(milliseconds=50), timedelta(milliseconds=150))
"""Between the tries of a read."""
_ANOTHER_MOMENT = timedelta(milliseconds=300)


class Calls:
    """The connection is made on first use and belongs to the event loop that uses it first."""

    def __init__(self, database: Database, *, clock: Clock) -> None:
        self._database = database
        self._clock = clock
        self._connection: Connection | None = None

    async def read(self, call: Call[Answer], *, operation: str) -> Answer:
        """
        Raises:
            Unavailable: no answer within the deadline, or none that helps.
        """
        until = self._until()
        pauses = iter(_PAUSES)
        while True:
            try:
                return await self._try(call, until=until)
            except GoogleAPICallError as error:
                pause = next(pauses, None)
                if pause is None or failures.status_of(error) is not StatusCode.UNAVAILABLE:
                    raise failures.of_read(error, operation=operation, database=self._database.name) from error
            await self._clock.sleep(min(pause, self._left(until)))

    async def commit(self, call: Call[Answer]) -> Answer:
        """
        Raises:
            Unavailable: nothing was applied.
            Ambiguous: it was sent, and no answer tells what became of it.
            AnvilError: what it answered.
        """
        try:
            return await self._try(call, until=self._until())
        except GoogleAPICallError as error:
            raise failures.of_commit(error, database=self._database.name) from error

    async def close(self) -> None:
        """Drop the connection; the next call would make another."""
        connection, self._connection = self._connection, None
        if connection is not None:
            await connection.channel.close()

    async def _try(self, call: Call[Answer], *, until: timedelta) -> Answer:
        connection = self._connecting()
        await self._connected(connection.channel, until=until)
        return await call(connection.api, self._left(until).total_seconds())

    def _connecting(self) -> Connection:
        if self._connection is None:
            try:
                self._connection = Connection.to(self._database)
            except GoogleAuthError as error:
                log.error("there are no credentials for the database", target=self._database.name, detail=str(error))
                raise Unavailable("There are no credentials for Firestore.") from error
        return self._connection

    async def _connected(self, channel: Channel, *, until: timedelta) -> None:
        """Wait until the connection stands; if it fails, a moment more, in which gRPC makes another."""
        now = asyncio.get_running_loop().time
        ends = now() + self._left(until).total_seconds()
        try:
            async with asyncio.timeout_at(ends) as limit:
                while (state := channel.get_state(try_to_connect=True)) is not ChannelConnectivity.READY:
                    if state is ChannelConnectivity.TRANSIENT_FAILURE:
                        ends = min(ends, now() + _ANOTHER_MOMENT.total_seconds())
                        limit.reschedule(ends)
                    await channel.wait_for_state_change(state)
        except TimeoutError as error:
            raise Unavailable("Firestore cannot be reached; nothing was sent.") from error

    def _until(self) -> timedelta:
        return self._clock.elapsed() + deadline.left(self._clock, at_most=LONGEST)

    def _left(self, until: timedelta) -> timedelta:
        """What is left of the call's time.

        Raises:
            Unavailable: nothing is.
        """
        if (left := until - self._clock.elapsed()) <= timedelta():
            raise Unavailable("The deadline has passed; nothing was sent.")
        return left
