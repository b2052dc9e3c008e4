"""The runner's side of a guard."""

import asyncio
import json
import os
import socket
import sys
from asyncio.subprocess import DEVNULL, Process
from contextlib import suppress
from datetime import timedelta

from services.runner.sandbox.guard import program
from services.runner.sandbox.port import GuardGone, Launch, NotStarted

_LARGEST_ANSWER = 4096


class Guard:
    """One guard process. `over` is done once it has ended, for whatever reason.

    Nothing that it started is alive then, unless it was killed itself: its orphans are this process's children now.
    """

    def __init__(self, process: Process, line: socket.socket) -> None:
        self._process = process
        self._line = line
        self._running: dict[int, asyncio.Future[int]] = {}
        self._stopping: asyncio.Future[None] | None = None
        self._last_id = 0
        self.over = asyncio.create_task(self._listen())

    @classmethod
    async def begin(cls, *, lease_until: timedelta) -> "Guard":
        """Start a guard whose lease ends at `lease_until` of CLOCK_BOOTTIME."""
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        ours.setblocking(False)
        ours.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, program.LARGEST_MESSAGE)
        with theirs:
            process = await asyncio.create_subprocess_exec(
                *(sys.executable, "-I", "-S", program.__file__, str(theirs.fileno()), str(lease_until.total_seconds())),
                stdin=DEVNULL,
                stdout=DEVNULL,
                cwd="/",
                env={},
                pass_fds=(theirs.fileno(),),
                start_new_session=True,
            )
        return cls(process, ours)

    @property
    def pid(self) -> int:
        return self._process.pid

    def renew(self, *, until: timedelta) -> None:
        """Let the lease end at `until` of CLOCK_BOOTTIME instead."""
        with suppress(GuardGone):
            self._tell({"do": "lease", "until": until.total_seconds()})

    async def launch(self, launch: Launch) -> int:
        """Start a program and wait for its own end: its exit code, 128 + n for signal n.

        Raises:
            NotStarted: there is no such program or directory.
            GuardGone: the guard has ended, and the program with it.
        """
        self._last_id += 1
        ended: asyncio.Future[int] = asyncio.get_running_loop().create_future()
        self._running[self._last_id] = ended
        message: program.Start = {
            "do": "start",
            "id": self._last_id,
            "argv": list(launch.argv),
            "cwd": str(launch.directory),
            "env": dict(launch.environment),
        }
        self._tell(message, launch.stdout, launch.stderr)
        return await ended

    async def stop(self, *, grace: timedelta) -> None:
        """SIGTERM to everything, SIGKILL after `grace`; returns when nothing is left, or the guard itself is gone."""
        if self.over.done():
            return
        if self._stopping is None or self._stopping.done():
            self._stopping = asyncio.get_running_loop().create_future()
        with suppress(GuardGone):
            self._tell({"do": "stop", "grace": grace.total_seconds()})
            await asyncio.wait({self.over, self._stopping}, return_when=asyncio.FIRST_COMPLETED)

    async def close(self) -> None:
        """End everything and the guard itself."""
        with suppress(OSError):
            self._line.shutdown(socket.SHUT_WR)
        await asyncio.shield(self.over)

    async def kill(self) -> None:
        """SIGKILL to the guard, which does not answer; what it started is the caller's to kill."""
        with suppress(ProcessLookupError):
            self._process.kill()
        await asyncio.shield(self.over)

    def _tell(self, message: program.Message, *descriptors: int) -> None:
        try:
            socket.send_fds(self._line, [json.dumps(message).encode()], descriptors)
        except OSError as error:
            raise GuardGone(f"the guard does not listen: {error.strerror}") from error

    async def _listen(self) -> None:
        loop = asyncio.get_running_loop()
        try:
            while packet := await loop.sock_recv(self._line, _LARGEST_ANSWER):
                self._hear(json.loads(packet))
        except ConnectionError:
            pass  # The guard was killed with messages unread; what follows is the same as for any end.
        finally:
            await self._process.wait()
            self._line.close()
            for id_ in tuple(self._running):
                if (ended := self._awaited(id_)) is not None:
                    ended.set_exception(GuardGone("the guard has ended"))

    def _hear(self, answer: program.Answer) -> None:
        if answer["told"] == "ended":
            if (ended := self._awaited(answer["id"])) is not None:
                ended.set_result(answer["code"])
        elif answer["told"] == "refused":
            if (ended := self._awaited(answer["id"])) is not None:
                reason = os.strerror(answer["errno"])
                ended.set_exception(NotStarted(f"the command could not be started: {reason}"))
        elif self._stopping is not None and not self._stopping.done():
            self._stopping.set_result(None)

    def _awaited(self, id_: int) -> asyncio.Future[int] | None:
        """Whom the end of a program is told, unless nobody waits for it any more."""
        ended = self._running.pop(id_)
        return None if ended.done() else ended
