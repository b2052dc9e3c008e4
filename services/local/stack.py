"""A running local stack: its state, where it listens, its processes."""

import os
import sys
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from services.local.addresses import Addresses, Service
from services.local.environment import Environment
from services.local.program import Program, programs
from services.local.state import StateDirectory, publish, shorten
from services.local.supervisor import Keeper, Report, StartFailed, supervised

ALL = frozenset(Service)


@dataclass(frozen=True, slots=True, kw_only=True)
class Stack:
    state: StateDirectory
    addresses: Addresses
    keepers: Mapping[str, Keeper] = field(repr=False)

    @property
    def endpoint(self) -> str:
        """The URL of ingress."""
        return self.addresses.url(Service.INGRESS)

    def pid(self, name: str) -> int:
        """The process of that name; it leads a process group. A service's is gunicorn's master."""
        return self.keepers[name].pid


@asynccontextmanager
async def running(
    state: StateDirectory,
    *,
    addresses: Addresses,
    report: Report,
    chosen: frozenset[Service] = ALL,
    overrides: Mapping[Service, Environment] | None = None,
) -> AsyncGenerator[Stack]:
    """The chosen services on the embedded store, ready, until the end of the block.

    Raises:
        StartFailed: one of them did not come to serve, or this is not Linux.
    """
    plan = programs(chosen, state=state, addresses=addresses, inherited=os.environ, overrides=overrides or {})
    async with started(plan, state=state, addresses=addresses, report=report) as stack:
        if Service.INGRESS in chosen:
            publish(state.endpoint, f"{stack.endpoint}\n")
        yield stack


@asynccontextmanager
async def started(
    plan: Sequence[Program], *, state: StateDirectory, addresses: Addresses, report: Report
) -> AsyncGenerator[Stack]:
    """The programs, ready, until the end of the block.

    Raises:
        StartFailed: one of them did not come to serve, or this is not Linux.
    """
    if sys.platform != "linux":
        raise StartFailed("the local stack needs Linux, which ties its processes together (prctl, pidfd)")
    for program in plan:
        shorten(program.log)
    async with supervised(plan, report=report) as keepers:
        yield Stack(state=state, addresses=addresses, keepers=keepers)
