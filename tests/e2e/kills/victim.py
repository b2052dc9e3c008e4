"""A process group of the stack, as it is struck, and what it was in the middle of."""

import asyncio
import os
import signal
from collections.abc import Collection, Iterator
from contextlib import suppress
from itertools import chain
from pathlib import Path

from services.local.addresses import Service
from services.local.cloud.stack import CloudStack
from services.runner.sandbox.guard import program
from tests.e2e.kills.strikes import How, Strike
from tests.emulator.network import Network
from tests.unit.local.reports import Reports

_GUARD = program.__file__.encode()
_ESTABLISHED = "01"

PATIENCE_SECONDS = 2.0
LOOK_SECONDS = 0.02
"""How long, and how often, a victim is looked at for a moment in which it is worth being struck."""


async def struck(strike: Strike, running: CloudStack, *, reports: Reports, busy: "Busy") -> bool:
    """Strike, and wait until the victim is itself again; whether it was in the middle of something."""
    leader = running.pid(strike.victim)
    found = await _caught_at_work(strike, leader, busy)
    match strike.how:
        case How.KILL:
            os.killpg(leader, signal.SIGKILL)
            await reports.until(f"{strike.victim} is back")
        case How.TERM:
            os.kill(leader, signal.SIGTERM)
            os.killpg(leader, signal.SIGCONT)
            await reports.until(f"{strike.victim} is back")
        case How.PAUSE | How.TAKEOVER:
            await asyncio.sleep(strike.pause.total_seconds())
            os.killpg(leader, signal.SIGCONT)
    return found


async def _caught_at_work(strike: Strike, leader: int, busy: "Busy") -> bool:
    """Stop the victim, in the middle of something if it comes to that soon; whether it did."""
    loop = asyncio.get_running_loop()
    until = loop.time() + PATIENCE_SECONDS
    while True:
        os.killpg(leader, signal.SIGSTOP)
        found = busy.with_something(strike, leader)
        if found or loop.time() > until:
            return found
        os.killpg(leader, signal.SIGCONT)
        await asyncio.sleep(LOOK_SECONDS)


class Busy:
    """What the services are in the middle of: deliveries at ingress, calls of the store, a sandbox of the runner.

    `at_ingress` counts, by instance, the requests that a sender waits for.
    """

    def __init__(self, network: Network) -> None:
        self.at_ingress = {1: 0, 2: 0}
        self._network = network

    def with_something(self, strike: Strike, leader: int) -> bool:
        match strike.service:
            case Service.INGRESS:
                return self.at_ingress[strike.instance] > 0
            case Service.COORDINATOR:
                open_ports = {connection.port for connection in self._network.open if connection.asked}
                return not open_ports.isdisjoint(_ports(_children(leader)))
            case Service.RUNNER:
                return any(
                    _GUARD in _command_line(child) for worker in _children(leader) for child in _children(worker)
                )
            case Service.PLATFORM:
                return False


def _children(pid: int) -> list[int]:
    return [int(child) for child in _read(pid, f"task/{pid}/children").split()]


def _command_line(pid: int) -> bytes:
    return _read(pid, "cmdline")


def _read(pid: int, what: str) -> bytes:
    try:
        return Path(f"/proc/{pid}/{what}").read_bytes()
    except OSError:
        return b""


def _ports(pids: Collection[int]) -> Iterator[int]:
    """The local ports of the TCP connections that these processes hold open (proc(5))."""
    sockets = {target for pid in pids for target in _descriptors(pid)}
    tables = [Path(f"/proc/net/{table}").read_text().splitlines()[1:] for table in ("tcp", "tcp6")]
    for line in chain(*tables):
        local, state, inode = (line.split()[column] for column in (1, 3, 9))
        if state == _ESTABLISHED and f"socket:[{inode}]" in sockets:
            yield int(local.rpartition(":")[2], 16)


def _descriptors(pid: int) -> Iterator[str]:
    for descriptor in Path(f"/proc/{pid}/fd").glob("*"):
        with suppress(OSError):
            yield os.readlink(descriptor)
