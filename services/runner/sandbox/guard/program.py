"""The guard of one run: parent and subreaper of every process that the run starts, and their end.

Runs as a process of its own, from this one file and the standard library alone, in its own session. It starts what the
runner asks for, and kills until no descendant is left as soon as one of these comes true:

    the lease is over        CLOCK_BOOTTIME has passed the moment that the runner last named, also while the runner is
                             stopped or the machine was suspended
    the runner is gone       its end of the socket is closed, however it died
    the runner asks for it   with a grace: SIGTERM to everything first

After the first two it exits. A descendant cannot get away by a double fork, `setsid` or by ignoring signals: as an
orphan it becomes the guard's child. If the guard itself is killed, what it started directly dies with it
(PR_SET_PDEATHSIG), and the rest become children of the next subreaper, the runner.

Messages are one JSON object a packet, on the SOCK_SEQPACKET socket whose descriptor is the first argument; the
second is when the lease ends. A start carries two descriptors, for standard output and standard error.
"""

import ctypes
import json
import os
import resource
import select
import signal
import socket
import sys
import time
from contextlib import suppress
from types import FrameType
from typing import Literal, TypeAlias, TypedDict

LARGEST_MESSAGE = 1024 * 1024

_PR_SET_PDEATHSIG = 1
_PR_SET_CHILD_SUBREAPER = 36
_LOOK_EVERY = 0.05
_KILL_EVERY = 0.005

_libc = ctypes.CDLL(None, use_errno=True)


def become_subreaper() -> None:
    """Have orphaned descendants become this process's children, not init's."""
    _libc.prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def descendants(ancestor: int) -> set[int]:
    """The process ids of everything below `ancestor` that is not a zombie."""
    parents = dict(filter(None, map(_parent, os.listdir("/proc"))))
    found: set[int] = set()
    level = {ancestor}
    while level:
        level = {child for child, parent in parents.items() if parent in level} - found
        found |= level
    return found


def kill_all(ancestor: int, *, spared: frozenset[int] = frozenset()) -> set[int]:
    """One round against all descendants, and who they were.

    Stopped first, for what is stopped cannot fork away from the SIGKILL that follows.
    """
    stopped: set[int] = set()
    while fresh := descendants(ancestor) - stopped - spared:
        _send(fresh, signal.SIGSTOP)
        stopped |= fresh
    _send(stopped, signal.SIGKILL)
    return stopped


def _parent(entry: str) -> tuple[int, int] | None:
    if not entry.isdecimal():
        return None
    try:
        with open(f"/proc/{entry}/stat", "rb") as file:
            # After the command's name, which may hold anything: state, parent, …
            state, parent = file.read().rpartition(b")")[2].split()[:2]
    except OSError:
        return None
    return None if state in (b"Z", b"X") else (int(entry), int(parent))


def _send(pids: set[int], number: signal.Signals) -> None:
    for pid in pids:
        with suppress(ProcessLookupError, PermissionError):
            os.kill(pid, number)


class Start(TypedDict):
    """Start a command; answered by its end, or by why there is no such command."""

    do: Literal["start"]
    id: int
    argv: list[str]
    cwd: str
    env: dict[str, str]


class Lease(TypedDict):
    """`until` is in seconds of CLOCK_BOOTTIME."""

    do: Literal["lease"]
    until: float


class Stop(TypedDict):
    """Have everything end, after `grace` seconds by SIGKILL; answered once nothing is left."""

    do: Literal["stop"]
    grace: float


class Ended(TypedDict):
    """`code` is an exit code, 128 + n for signal n. What the command left running is not meant."""

    told: Literal["ended"]
    id: int
    code: int


class Refused(TypedDict):
    told: Literal["refused"]
    id: int
    errno: int


class Stopped(TypedDict):
    told: Literal["stopped"]


Message: TypeAlias = Start | Lease | Stop
Answer: TypeAlias = Ended | Refused | Stopped


class Guard:
    def __init__(self, runner: socket.socket, *, lease_until: float) -> None:
        self._runner = runner
        self._pid = os.getpid()
        self._ids: dict[int, int] = {}
        self._lease_until = lease_until
        self._kill_at: float | None = None

    def watch(self) -> None:
        """Serve the runner until it is gone or its lease is over; nothing of the run is left then."""
        wake, wakes = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC)
        signal.set_wakeup_fd(wakes, warn_on_full_buffer=False)
        signal.signal(signal.SIGCHLD, _wake_up)
        while not self._lease_is_over() and self._serve(wake):
            pass
        while kill_all(self._pid):
            self._reap()
            time.sleep(_KILL_EVERY)
        self._reap()

    def _serve(self, wake: int) -> bool:
        """Wait a moment and do what has come up; False once the runner is gone."""
        runner = self._runner.fileno()
        ready, _, _ = select.select([runner, wake], [], [], _LOOK_EVERY)
        if wake in ready:
            os.read(wake, 4096)
        alive = runner not in ready or self._hear()
        self._reap()
        self._stop()
        return alive

    def _hear(self) -> bool:
        try:
            packet, descriptors, _, _ = socket.recv_fds(self._runner, LARGEST_MESSAGE, 2, socket.MSG_CMSG_CLOEXEC)
        except ConnectionError:
            return False
        if not packet:
            return False
        message: Message = json.loads(packet)
        if message["do"] == "start":
            self._start(message, descriptors)
        elif message["do"] == "lease":
            self._lease_until = message["until"]
        else:
            self._ask_to_end(message["grace"])
        for descriptor in descriptors:
            os.close(descriptor)
        return True

    def _lease_is_over(self) -> bool:
        return time.clock_gettime(time.CLOCK_BOOTTIME) >= self._lease_until

    def _start(self, message: Start, descriptors: list[int]) -> None:
        reading, writing = os.pipe2(os.O_CLOEXEC)
        pid = os.fork()
        if pid == 0:
            _become(message, descriptors, failure=writing)
        os.close(writing)
        with os.fdopen(reading, "rb") as pipe:
            refused = pipe.read()
        if refused:
            self._say({"told": "refused", "id": message["id"], "errno": int(refused)})
        else:
            self._ids[pid] = message["id"]

    def _ask_to_end(self, grace: float) -> None:
        kill_at = time.monotonic() + grace
        if self._kill_at is None:
            _send(descendants(self._pid), signal.SIGTERM)
        self._kill_at = kill_at if self._kill_at is None else min(kill_at, self._kill_at)

    def _stop(self) -> None:
        """Go on with a stop that was asked for; say so once nothing is left."""
        if self._kill_at is None:
            return
        late = time.monotonic() >= self._kill_at
        left = kill_all(self._pid) if late else descendants(self._pid)
        self._reap()
        if not left:
            self._kill_at = None
            self._say({"told": "stopped"})

    def _reap(self) -> None:
        with suppress(ChildProcessError):
            while (ended := os.waitpid(-1, os.WNOHANG))[0]:
                pid, status = ended
                code = os.waitstatus_to_exitcode(status)
                if (id_ := self._ids.pop(pid, None)) is not None:
                    self._say({"told": "ended", "id": id_, "code": code if code >= 0 else 128 - code})

    def _say(self, message: Answer) -> None:
        with suppress(OSError):
            self._runner.send(json.dumps(message).encode(), socket.MSG_DONTWAIT)


def _wake_up(_: int, __: FrameType | None) -> None:
    """The wake-up descriptor is what a signal is for."""


def _become(message: Start, descriptors: list[int], *, failure: int) -> None:
    """In the child: turn into the command, or say why not. Never returns."""
    try:
        os.setsid()
        _libc.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        signal.set_wakeup_fd(-1)
        for number in (signal.SIGCHLD, signal.SIGPIPE, signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            signal.signal(number, signal.SIG_DFL)
        os.chdir(str(message["cwd"]))
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        os.dup2(descriptors[0], 1)
        os.dup2(descriptors[1], 2)
        os.execvpe(message["argv"][0], message["argv"], message["env"])
    except OSError as error:
        os.write(failure, str(error.errno or 1).encode())
    finally:
        os._exit(127)


def main() -> None:
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGPIPE):
        signal.signal(number, signal.SIG_IGN)
    become_subreaper()
    runner = socket.socket(fileno=int(sys.argv[1]))
    runner.set_inheritable(False)
    Guard(runner, lease_until=float(sys.argv[2])).watch()


if __name__ == "__main__":
    main()
